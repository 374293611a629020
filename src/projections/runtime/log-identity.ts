import {
  ClickHouseUnavailable,
  type ClickHouse,
  type ClickHouseReader,
  type ClickHouseWriter,
} from '../../domain/ports/clickhouse.js'
import type { EventStore, Position } from '../../domain/ports/event-store.js'
import { tableIdentities } from '../rebuild/table-identities.js'

type Querying = Pick<ClickHouseReader, 'query'>
type ReadableLog = Pick<EventStore, 'readAll' | 'head'>

/** Why the read models of a database are not those of a log. */
export interface LogMismatch {
  readonly kind: 'log_shorter_than_checkpoint' | 'log_mismatch'
  readonly reason: string
}

/** Events at the start of a log that may all be missing from `event_times`, since they could not be projected. */
const UNPROJECTED_AT_START = 100

/**
 * Compares a database with a log, before anything is changed in it; undefined where the database is empty or was filled
 * from this log. A database of a release that did not note its log is compared by the times of its first and last events.
 */
export const findLogMismatch = async (
  clickHouse: Querying,
  database: string,
  log: ReadableLog,
): Promise<LogMismatch | undefined> => {
  const tables = await runtimeTablesIn(clickHouse, database)
  const noted = tables.has('source_log') ? await sourceLogs(clickHouse) : []
  if (noted.length > 0) return (await notFrom(noted, log)) ?? endMismatch(clickHouse, log)
  const first = tables.has('event_times') ? await projectedAt(clickHouse, FIRST) : undefined
  if (first !== undefined)
    return (await notIn(log, first, { limit: UNPROJECTED_AT_START })) ?? endMismatch(clickHouse, log)
  if (!tables.has('checkpoints')) return undefined
  const [row] = await clickHouse.query<{ rows: number }>(
    'SELECT count() AS rows FROM checkpoints WHERE position > 0',
  )
  return row?.rows === 0 ? undefined : another('the release that filled it did not record the log')
}

/** Notes in a database that it is filled from this log. False while the log is empty. Idempotent. */
export const noteSourceLog = async (clickHouse: ClickHouseWriter, log: ReadableLog): Promise<boolean> => {
  const first = await firstOf(log)
  if (first === undefined) return false
  const noted = await sourceLogs(clickHouse)
  if (noted.length === 0)
    await clickHouse.insert({
      table: 'source_log',
      columns: ['event_id', 'position'],
      values: [[first.event_id, first.position]],
    })
  // Read again: another process may have noted its own log at the same time.
  const mismatch = await notFrom(await sourceLogs(clickHouse), log)
  if (mismatch !== undefined)
    throw new ClickHouseUnavailable('refusing', `the ClickHouse database is in use: ${mismatch.reason}`)
  return true
}

/** Why the log that a database notes as its source is another one; undefined while it notes none. */
export const sourceLogMismatch = async (
  clickHouse: Querying,
  log: ReadableLog,
): Promise<{ readonly isNoted: boolean; readonly mismatch: LogMismatch | undefined }> => {
  const noted = await sourceLogs(clickHouse)
  return { isNoted: noted.length > 0, mismatch: noted.length > 0 ? await notFrom(noted, log) : undefined }
}

/** Empties the read models; the next projector fills them from its log. */
export const emptyReadModels = async ({
  writer,
  database,
}: Pick<ClickHouse, 'writer' | 'database'>): Promise<void> => {
  const models = Object.keys(await tableIdentities(writer, database))
  const present = await runtimeTablesIn(writer, database)
  // In this order a start after a crash finds the mismatch again.
  const last = ['checkpoints', 'event_times', 'source_log']
  const tables = [
    ...models.filter((name) => !last.includes(name)),
    ...last.filter((name) => present.has(name)),
  ]
  for (const name of tables) await writer.command(`TRUNCATE TABLE \`${name}\``)
}

interface SourceLog {
  readonly event_id: string
  readonly position: string
}

const sourceLogs = (clickHouse: Querying): Promise<readonly SourceLog[]> =>
  clickHouse.query<SourceLog>('SELECT DISTINCT event_id, toString(position) AS position FROM source_log')

const firstOf = async (log: ReadableLog): Promise<SourceLog | undefined> => {
  for await (const { id, position } of log.readAll({ limit: 1 }))
    return { event_id: id, position: String(position) }
  return undefined
}

const notFrom = async (noted: readonly SourceLog[], log: ReadableLog): Promise<LogMismatch | undefined> => {
  const first = await firstOf(log)
  const other = noted.find(
    ({ event_id, position }) => event_id !== first?.event_id || position !== first.position,
  )
  if (other === undefined) return undefined
  const own = first === undefined ? 'this log is empty' : `this log starts with ${nameOf(first)}`
  return another(`it was filled from a log that starts with ${nameOf(other)}, and ${own}`)
}

const nameOf = ({ event_id, position }: SourceLog): string => `event ${event_id} at position ${position}`

const another = (reason: string): LogMismatch => ({ kind: 'log_mismatch', reason })

/** Compares the last event that was projected with the log: it may have been restored to an earlier state. */
const endMismatch = async (clickHouse: Querying, log: ReadableLog): Promise<LogMismatch | undefined> => {
  const [row] = await clickHouse.query<{ position: string }>(
    `SELECT toString(greatest((SELECT max(position) FROM event_times), (SELECT max(position) FROM quarantine))) AS position`,
  )
  const known = BigInt(row?.position ?? 0)
  const head = await log.head()
  if (known > head)
    return {
      kind: 'log_shorter_than_checkpoint',
      reason: `it was filled up to position ${known}, and the log ends at position ${head}: the log was restored to an earlier state or lost its last events`,
    }
  const last = await projectedAt(clickHouse, LAST)
  if (last === undefined) return undefined
  const before = await projectedAt(
    clickHouse,
    `WHERE event_times.position < {position:UInt64} ${LAST}`,
    last.position,
  )
  return notIn(log, last, { after: BigInt(before?.position ?? 0) })
}

const notIn = async (
  log: ReadableLog,
  projected: Projected,
  reading: { readonly after?: Position; readonly limit?: number },
): Promise<LogMismatch | undefined> => {
  const position = BigInt(projected.position)
  const at = Number(projected.at)
  for await (const event of log.readAll(reading)) {
    if (event.position < position) continue
    if (event.position === position && event.recordedAt.getTime() === at) return undefined
    break
  }
  return another(
    `it was filled from an event at position ${position}, recorded at ${new Date(at).toISOString()}, that this log does not have`,
  )
}

const FIRST = 'ORDER BY event_times.position LIMIT 1'
const LAST = 'ORDER BY event_times.position DESC LIMIT 1'

interface Projected {
  readonly position: string
  /** When its event was recorded, in milliseconds. */
  readonly at: string
}

const projectedAt = async (
  clickHouse: Querying,
  clauses: string,
  position = '0',
): Promise<Projected | undefined> => {
  const [row] = await clickHouse.query<Projected>(
    `SELECT toString(position) AS position, toString(toUnixTimestamp64Milli(recorded_at)) AS at FROM event_times ${clauses}`,
    { position },
  )
  return row
}

/** The tables that say how far a database is filled, and from which log. */
const runtimeTablesIn = async (clickHouse: Querying, database: string): Promise<ReadonlySet<string>> => {
  const rows = await clickHouse.query<{ name: string }>(
    `SELECT name FROM system.tables
    WHERE database = {database:String} AND name IN ('checkpoints', 'event_times', 'source_log')`,
    { database },
  )
  return new Set(rows.map(({ name }) => name))
}
