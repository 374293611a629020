import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { answersOf, assertHeals, writeAll } from '../../support/faults/damaged-answers.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'

const ROUNDS = process.env['TEST_FULL'] === undefined ? 20 : 100

/** The same numbers for the same seed, so that a round can be repeated. */
const numbersFrom = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Every file below a directory. */
const filesBelow = (directory: string): string[] =>
  readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name)
    return entry.isDirectory() ? filesBelow(path) : entry.isFile() ? [path] : []
  })

describe('a service whose read models were damaged while it was stopped', () => {
  let service: RunningService
  let truth: Awaited<ReturnType<typeof answersOf>>
  before(async () => {
    service = await startRunningService()
    await writeAll(service)
    do truth = await answersOf(service)
    while (truth.some(({ status }) => status !== 200))
  })
  after(() => service.remove())

  const pick = numbersFrom(Number(process.env['TEST_SEED'] ?? 1))
  const oneOf = <A>(all: readonly A[]): A => all[pick(all.length)]!
  const store = () => join(service.dataDirectory, 'clickhouse', 'store')
  /** Parts of tables of this service. */
  const parts = () =>
    filesBelow(store())
      .filter((path) => path.endsWith('/columns.txt'))
      .map((path) => join(path, '..'))
  const DAMAGES: Readonly<Record<string, () => string>> = {
    'a byte': () => {
      const path = oneOf(filesBelow(oneOf(parts())).filter((file) => statSync(file).size > 0))
      const bytes = readFileSync(path)
      const at = pick(bytes.length)
      bytes[at]! ^= 1 << pick(8)
      writeFileSync(path, bytes)
      return `${path} at ${at}`
    },
    'a file': () => {
      const path = oneOf(filesBelow(oneOf(parts())))
      rmSync(path)
      return path
    },
    'an emptied file': () => {
      const path = oneOf(filesBelow(oneOf(parts())))
      truncateSync(path, 0)
      return path
    },
    'a part': () => {
      const path = oneOf(parts())
      rmSync(path, { recursive: true })
      return path
    },
    'a table': () => {
      const path = join(oneOf(parts()), '..')
      rmSync(path, { recursive: true })
      return path
    },
    'a statement': () => {
      const path = oneOf(
        filesBelow(join(service.dataDirectory, 'clickhouse')).filter((file) => file.endsWith('.sql')),
      )
      if (pick(2) === 0) rmSync(path)
      else truncateSync(path, pick(statSync(path).size))
      return path
    },
    'all tables': () => {
      rmSync(store(), { recursive: true })
      return store()
    },
    'the directory': () => {
      rmSync(join(service.dataDirectory, 'clickhouse'), { recursive: true })
      return 'clickhouse'
    },
  }

  for (let round = 0; round < ROUNDS; round += 1) {
    const kind = Object.keys(DAMAGES)[round % Object.keys(DAMAGES).length]!
    it(`answers as before or says why not, and heals: ${kind} (${round})`, async () => {
      await sleep(1500)
      await service.stop()
      const what = DAMAGES[kind]!()
      const said = service.output().length
      await service.restart()
      await assertHeals(service, truth, () => `${what}\n${service.output().slice(said)}`)
    })
  }
})
