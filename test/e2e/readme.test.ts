import assert from 'node:assert/strict'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { blocksIn, CURL_ONCE_READABLE, pageOf, sectionOf, textOf } from './pages.js'
import { figures } from './usage.js'
import { run } from './run-program.js'
import { itWith } from '../support/skipping.js'
import { startRunningService, type RunningService } from '../support/running-service.js'

const README = textOf('README.md')
const blocks = (heading: string, language: string) => blocksIn(sectionOf(README, heading), language)

const itWithCurl = itWith('curl')

describe('the examples of the README and of pages that need only a running service', () => {
  let service: RunningService
  let directory: string
  before(async () => {
    service = await startRunningService()
    directory = await mkdtemp(join(tmpdir(), 'tallytree-readme-'))
    await symlink(
      fileURLToPath(new URL('../../node_modules', import.meta.url)),
      join(directory, 'node_modules'),
    )
  })
  after(async () => {
    await service.remove()
    await rm(directory, { recursive: true, force: true })
  })

  const paste = async (...pasted: readonly string[]): Promise<string> => {
    const ran = await run(
      'bash',
      ['-euo', 'pipefail', '-c', [CURL_ONCE_READABLE, ...pasted].join('\n')],
      directory,
      { TALLYTREE_URL: service.address, TALLYTREE_API_KEY: service.key },
    )
    assert.deepEqual({ code: ran.code, stderr: ran.stderr }, { code: 0, stderr: '' })
    return ran.stdout
  }

  const [variables, firstCalls] = blocks('Record a call and read its usage', 'sh')
  const [shown] = blocks('Record a call and read its usage', 'json')
  const [setting] = blocks('Trace with an SDK', 'sh')
  const [program] = blocks('Trace with an SDK', 'js')

  it('need two variables, the address and the key', () => {
    assert.match(
      variables!,
      /^export TALLYTREE_URL=http:\/\/127\.0\.0\.1:4600\nexport TALLYTREE_API_KEY=\S+\n$/,
    )
  })

  itWithCurl('print what the README shows, when pasted and when pasted again', async () => {
    const printed = await paste(firstCalls!)
    const [started, completed, usage] = printed
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
    assert.deepEqual([started, completed], [{ id: 'answer-1', trace_id: 'answer-1' }, {}])
    assert.deepEqual(withoutEmptyFigures(usage), JSON.parse(shown!))
    assert.equal(await paste(firstCalls!), printed)
  })

  itWithCurl('trace the program with the SDK, and its root has used what the README says', async () => {
    await writeFile(join(directory, 'hello.mjs'), program!)
    const definition = /^post\(\) \{\n.*\n\}$/m.exec(firstCalls!)![0]

    const printed = (await paste(definition, setting!)).trimEnd().split('\n')

    const [, requests, prompt, completion] =
      /has (\d+) requests, (\d+) prompt tokens and (\d+) completion tokens/.exec(
        sectionOf(README, 'Trace with an SDK'),
      )!
    const { call_usage, unfinished_call_ids } = JSON.parse(printed.at(-1)!)
    assert.equal(printed.at(-2), 'Because.')
    assert.deepEqual(Object.values(call_usage), [
      { 'small-model': figures([Number(requests), Number(prompt), Number(completion)]) },
    ])
    assert.deepEqual(unfinished_call_ids, [])
  })

  it('copy and verify the log, as the page on auditing says', async () => {
    const copy = join(directory, 'copy')
    const [commands] = pageOf('auditing.md')('sh')
    const { code, stdout, stderr } = await run(
      'bash',
      ['-euo', 'pipefail', '-c', commands!.replaceAll('./copy', copy)],
      fileURLToPath(new URL('../..', import.meta.url)),
      { TALLYTREE_URL: service.address, TALLYTREE_API_KEY: service.key },
    )
    assert.equal(code, 0, stdout + stderr)
    assert.match(stdout, /^verified \d+ events: all equal$/m)
  })

  it('name, on the page on compatibility, fields that are each refused with a 422 that names them', async () => {
    const listed = sectionOf(textOf('docs/compatibility.md'), 'Not served yet')
      .split(/^- /m)
      .slice(1)
      .map((item) => item.split('\n\n')[0]!.split(/: \n?|:\n/))
    assert.notEqual(listed.length, 0)
    const values: Record<string, unknown> = { query: { $expr: { $and: [] } }, expand_columns: ['inputs'] }
    for (const [paths, fields] of listed)
      for (const path of quoted(paths!))
        for (const field of quoted(fields!)) {
          const needed = NEEDED[path] ?? {}
          const body = { project_id: 'team/hello', ...needed, [field]: values[field] ?? true }
          const answer = await service.post(path.replace('{entity}/{project}', 'team/hello'), body)
          assert.equal(answer.status, 422, `${path} ${field}: ${answer.text}`)
          assert.deepEqual(answer.json<{ detail: { loc: unknown }[] }>().detail[0]!.loc, ['body', field])
        }
  })
})

/** An answer without the figures that the README leaves out. */
const withoutEmptyFigures = (answer: unknown): unknown =>
  JSON.parse(JSON.stringify(answer), (_, value: unknown) =>
    value === 0 || value === null ? undefined : value,
  )

/** What a request needs besides its project. */
const NEEDED: Readonly<Record<string, object>> = {
  '/calls/usage': { call_ids: ['any'] },
  '/call/read': { id: 'any' },
  '/v2/{entity}/{project}/eval_results/query': { evaluation_run_ids: ['any'] },
}

const quoted = (text: string): readonly string[] => [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1]!)

describe('the README', () => {
  it('has the commands that start, show and test it, each on a line of its own and once', () => {
    for (const command of ['npm ci && npm start', 'npm ci && npm run demo', 'npm ci && npm test'])
      assert.equal(
        README.split('\n')
          .filter((line) => line.includes(command))
          .join('\n'),
        command,
      )
  })
})
