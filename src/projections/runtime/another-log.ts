import type { ClickHouse, ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { EventStore, Position } from '../../domain/ports/event-store.js'
import type { Log } from '../../domain/ports/log.js'
import { modelTables } from '../rebuild/model-tables.js'
import { readCheckpoint } from './checkpoint.js'

/** The log that is there. */
interface Present {
  readonly head: Position
  readonly eventStore: Pick<EventStore, 'readAll'>
}

/**
 * Empties read models of another log than this one, which was restored to an earlier state, lost its end or took the place of
 * theirs: they would show what is not there, and pass over what comes. They are made anew from the log.
 */
export const emptyIfOfAnotherLog = async (
  { writer, database }: Pick<ClickHouse, 'writer' | 'database'>,
  present: Present,
  log: Pick<Log, 'error'>,
): Promise<void> => {
  const checkpoint = await readCheckpoint(writer)
  if (!(await isOfAnotherLog(writer, checkpoint, present, log))) return
  const tables = Object.keys(await modelTables(writer, database))
  // The checkpoint goes last, so that what is cut off begins anew at the next start.
  for (const name of [...tables, 'checkpoints']) await writer.command(`TRUNCATE TABLE \`${name}\``)
}

const isOfAnotherLog = async (
  reader: Pick<ClickHouseReader, 'query'>,
  checkpoint: Position,
  { head, eventStore }: Present,
  log: Pick<Log, 'error'>,
): Promise<boolean> => {
  if (checkpoint === 0n) return false
  if (checkpoint > head) {
    log.error('projection.ahead_of_log', {
      log_ends_at: String(head),
      read_models_know: String(checkpoint),
      reason:
        'the log was restored to an earlier state, or lost its end: the read models are made anew from what it has',
    })
    return true
  }
  const last = await lastProjected(reader, '<=', checkpoint)
  if (last === undefined) return false
  const before = await lastProjected(reader, '<', BigInt(last.position))
  const atLast = await firstFrom(BigInt(last.position), BigInt(before?.position ?? 0), eventStore)
  if (String(atLast?.position) === last.position && Number(atLast?.recordedAt) === Number(last.at))
    return false
  log.error('projection.of_another_log', {
    position: last.position,
    recorded_at: atLast?.recordedAt.toISOString() ?? null,
    read_models_know: new Date(Number(last.at)).toISOString(),
    reason: 'the log is not the one that the read models were made from: they are made anew from this one',
  })
  return true
}

/** The first event at a position or later. What stands between that and `after` was not projected. */
const firstFrom = async (position: Position, after: Position, eventStore: Pick<EventStore, 'readAll'>) => {
  for await (const event of eventStore.readAll({ after })) if (event.position >= position) return event
  return undefined
}

interface Projected {
  readonly position: string
  /** When its event was recorded, in milliseconds. */
  readonly at: string
}

/** The last position up to another one, or before it, of which the read models know anything. */
const lastProjected = async (
  reader: Pick<ClickHouseReader, 'query'>,
  comparison: '<=' | '<',
  position: Position,
): Promise<Projected | undefined> => {
  const [row] = await reader.query<Projected>(
    `SELECT toString(position) AS position, toString(toUnixTimestamp64Milli(recorded_at)) AS at FROM event_times
    WHERE event_times.position ${comparison} {position:UInt64} ORDER BY event_times.position DESC LIMIT 1`,
    { position: String(position) },
  )
  return row
}
