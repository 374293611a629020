import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run, type Ran } from '../../e2e/run-program.js'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: { demo: string }
}

type Figures = readonly [requests: number, prompt: number, completion: number, total: number]

const used = (requests: number, prompt: number, completion: number): Figures => [
  requests,
  prompt,
  completion,
  prompt + completion,
]
const nothing = used(0, 0, 0)
const read = (letters: number) => used(1, 900 + 100 * letters, 150)

/** Call by call: depth, name, what it used itself and with everything below it, and how it went. */
const EXPECTED: readonly (readonly [number, string, Figures, Figures, string])[] = [
  [0, 'answer', nothing, used(6, 6370, 1396), 'success'],
  [1, 'plan', nothing, used(1, 420, 96), 'success'],
  [2, 'think', used(1, 420, 96), used(1, 420, 96), 'success'],
  ...[5, 4, 6].flatMap((letters): (readonly [number, string, Figures, Figures, string])[] => [
    [1, 'research', nothing, read(letters), 'success'],
    ...(letters === 6 ? [[2, 'search_archive', nothing, nothing, 'error'] as const] : []),
    [2, 'read', read(letters), read(letters), 'success'],
  ]),
  [1, 'write', nothing, used(2, 1750, 850), 'success'],
  [2, 'compose', used(1, 1300, 410), used(2, 1750, 850), 'success'],
  [3, 'proofread', used(1, 450, 440), used(1, 450, 440), 'success'],
]

/** The rows of the printed tree, in the form of `EXPECTED`. */
const rowsOf = (printed: string) =>
  [...printed.matchAll(/^((?:[│ ] {2})*(?:[├└]─ )?)(\w+) +((?:(?:\d+|·) +){8})(\w+)$/gm)].map(
    ([, indent, name, figures, status]) => {
      const numbers = figures!
        .trim()
        .split(/ +/)
        .map((figure) => (figure === '·' ? 0 : Number(figure)))
      return [indent!.length / 3, name, numbers.slice(0, 4), numbers.slice(4), status]
    },
  )

describe('the demo', () => {
  let scratch: string
  before(async () => (scratch = await mkdtemp(join(tmpdir(), 'tallytree-demo-test-'))))
  after(() => rm(scratch, { recursive: true, force: true }))

  const demo = (environment: Record<string, string>): Promise<Ran> =>
    run('bash', ['-c', scripts.demo], ROOT, environment)

  const left = async () => (await readdir(scratch)).filter((name) => name.startsWith('tallytree-'))

  it('shows a trace with what each call used, counted once, and leaves nothing behind', async () => {
    const elsewhere = {
      TALLYTREE_DATA_DIR: '/nowhere',
      WF_TRACE_SERVER_URL: 'http://127.0.0.1:1',
      TMPDIR: scratch,
    }

    const { code, stdout, stderr } = await demo(elsewhere)

    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
    assert.deepEqual(rowsOf(stdout), EXPECTED)
    const [shown, where] = stdout.trimEnd().split('\n').slice(-2)
    assert.match(shown!, /^Shown: the 13 calls of one answer\./)
    assert.ok(where!.includes(join(scratch, 'tallytree-demo-')))
    assert.deepEqual(await left(), [])
  })

  for (const [broken, reason] of [
    ['src/main.ts', 'the service ended before it was ready'],
    ['demo/agent.mjs', 'the agent ended with 3'],
  ] as const)
    it(`says why it failed, fails, and leaves nothing behind: ${broken}`, async () => {
      const breaking = join(scratch, 'breaking.cjs')
      await writeFile(
        breaking,
        `if (process.argv[1]?.endsWith('${broken}')) { console.error('broken'); process.exit(3) }`,
      )

      const { code, stderr } = await demo({ NODE_OPTIONS: `--require ${breaking}`, TMPDIR: scratch })

      assert.equal(code, 1)
      assert.equal(stderr, `The demo failed: ${reason}:\nbroken\n`)
      assert.deepEqual(await left(), [])
    })
})
