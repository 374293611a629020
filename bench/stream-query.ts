import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbeddedClickHouse } from '../src/adapters/clickhouse/embedded.js'
import { migrate } from '../src/projections/migrate.js'
import { fillCalls } from '../test/support/many-calls.js'
import { startService } from './support/child.js'
import { median, ratio } from './support/report.js'

/**
 * How much memory does `/calls/stream_query` take beyond what the service has, and does it grow with the number of calls?
 * Each is streamed some times, read to the last line, after the service has answered as much before.
 */

const FEW = Number(process.env['FEW'] ?? 100_000)
const MANY = 4 * FEW
const ROUNDS = Number(process.env['ROUNDS'] ?? 3)
const GOAL_MIB = 100
const GOAL_GROWTH = 1.5
const KEY = 'administrator-key-of-the-bench'
const PROJECT = 'bench/streams'

const fill = async (directory: string): Promise<void> => {
  const clickHouse = await openEmbeddedClickHouse(join(directory, 'clickhouse'))
  const { writer } = clickHouse
  await migrate(writer)
  await fillCalls(writer, PROJECT, MANY)
  await writer.command('OPTIMIZE TABLE calls FINAL')
  await writer.command(`INSERT INTO checkpoints VALUES ('main', ${10 * MANY})`)
  await clickHouse.close()
}

const [task, given] = process.argv.slice(2)
if (task === 'fill') {
  await fill(given!)
  process.exit(0)
}

const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))
try {
  // The engine may be open in one process at a time: another process makes the tables.
  execFileSync(process.execPath, ['--import', 'tsx', import.meta.filename, 'fill', directory], {
    stdio: 'inherit',
  })
  const service = await startService({
    TALLYTREE_PORT: '0',
    TALLYTREE_DATA_DIR: directory,
    TALLYTREE_BOOTSTRAP_API_KEY: KEY,
  })

  const read = async (limit: number) => {
    const before = service.memory().now
    service.forgetPeak()
    const begin = performance.now()
    const response = await fetch(`${service.address}/calls/stream_query`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ project_id: PROJECT, limit }),
    })
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
    let lines = 0
    for await (const chunk of response.body!)
      for (const byte of chunk as Uint8Array) if (byte === 10) lines += 1
    if (lines !== limit) throw new Error(`${lines} calls were streamed`)
    return { seconds: (performance.now() - begin) / 1000, extra: service.memory().peak - before }
  }

  for (let warm = 0; warm < 2; warm += 1) await read(FEW)
  const [few, many]: [Awaited<ReturnType<typeof read>>[], Awaited<ReturnType<typeof read>>[]] = [[], []]
  for (let round = 0; round < ROUNDS; round += 1) {
    few.push(await read(FEW))
    many.push(await read(MANY))
  }
  const extraOf = (reads: typeof few) => median(reads.map(({ extra }) => extra))
  for (const [calls, reads] of [
    [FEW, few],
    [MANY, many],
  ] as const) {
    const each = reads.map(({ extra }) => extra.toFixed(0)).join(', ')
    const details = `${median(reads.map(({ seconds }) => seconds)).toFixed(1)} s; each time ${each} MiB`
    ratio(
      `extra MiB of streaming ${calls}`,
      extraOf(reads),
      `<= ${GOAL_MIB}`,
      extraOf(reads) <= GOAL_MIB,
      details,
    )
  }
  const growth = extraOf(many) / extraOf(few)
  ratio(`that of ${MANY} ÷ of ${FEW}`, growth, `<= ${GOAL_GROWTH}`, growth <= GOAL_GROWTH, '')
  await service.stop()
} finally {
  await rm(directory, { recursive: true, force: true })
}
