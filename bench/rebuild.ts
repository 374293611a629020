import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { openInMemoryBlobStore } from '../src/adapters/blobs/in-memory-blob-store.js'
import { openEmbeddedClickHouse } from '../src/adapters/clickhouse/embedded.js'
import { openSqliteEventStore } from '../src/adapters/event-store/sqlite/sqlite-event-store.js'
import type { ClickHouseWriter } from '../src/kernel/ports/clickhouse.js'
import { projections } from '../src/projections/all.js'
import { migrate } from '../src/projections/migrate.js'
import { startProjector } from '../src/projections/runtime/projector.js'
import { writeCallEvents } from './support/call-events.js'
import { median, ratio } from './support/report.js'

/** How many events of about 1 KB a second go from the log into empty tables: read, decoded, projected and inserted? */

const EVENTS = Number(process.env['BENCH_EVENTS'] ?? 300_000)
const ROUNDS = 3
const GOAL = 40_000

const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))
const path = join(directory, 'events.db')
const bytes = await writeCallEvents(path, EVENTS)

/** The bare loop: every row of the file, its JSON parsed. */
const scan = (): number => {
  const db = new Database(path, { readonly: true })
  const begin = performance.now()
  let seen = 0
  for (const row of db.prepare<[], { data: string; metadata: string }>(ALL).iterate()) {
    JSON.parse(row.data)
    JSON.parse(row.metadata)
    seen += 1
  }
  const rate = seen / ((performance.now() - begin) / 1000)
  db.close()
  return rate
}
const ALL = 'SELECT data, metadata FROM events ORDER BY position'

const clickHouse = await openEmbeddedClickHouse(join(directory, 'clickhouse'))

/** What the tables take on disk. */
const bytesOf = async (writer: ClickHouseWriter): Promise<number> => {
  const [row] = await writer.query<{ bytes: number }>(
    'SELECT sum(bytes_on_disk) AS bytes FROM system.parts WHERE active AND database = currentDatabase()',
  )
  return row?.bytes ?? 0
}
let stored = 0

const project = async (round: number): Promise<number> => {
  const other = await clickHouse.beside(`round_${round}`)
  await migrate(other.writer)
  const eventStore = openSqliteEventStore(path)
  const begin = performance.now()
  const projector = await startProjector({
    eventStore,
    blobs: openInMemoryBlobStore(),
    clickHouse: other.writer,
    projections,
    log: { info: () => undefined, warn: () => undefined, error: console.error },
  })
  if (!(await projector.waitFor(await eventStore.head(), 600_000))) throw new Error('it takes too long')
  const rate = EVENTS / ((performance.now() - begin) / 1000)
  await projector.stop()
  stored = await bytesOf(other.writer)
  await eventStore.close()
  await other.close()
  return rate
}

const rates: number[] = []
const scans: number[] = []
for (let round = 0; round < ROUNDS; round += 1) {
  scans.push(scan())
  rates.push(await project(round))
  console.log(`round ${round}: scanned ${scans.at(-1)!.toFixed(0)}/s, rebuilt ${rates.at(-1)!.toFixed(0)}/s`)
}
await clickHouse.close()
const rate = median(rates)
ratio(
  'rebuild, events/s',
  rate,
  `>= ${GOAL}`,
  rate >= GOAL,
  `${(bytes / EVENTS).toFixed(0)} bytes an event; ${(rate / median(scans)).toFixed(3)} of a bare scan-and-parse loop; ` +
    `${(stored / EVENTS).toFixed(0)} bytes an event in ClickHouse, ${((await stat(path)).size / EVENTS).toFixed(0)} in SQLite`,
)
await rm(directory, { recursive: true, force: true })
process.exit(0)
