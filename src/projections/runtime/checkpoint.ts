import {
  ClickHouseUnavailable,
  type ClickHouseReader,
  type ClickHouseWriter,
} from '../../kernel/ports/clickhouse.js'
import type { EventStore, Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import { isInLog, type LogAnchor } from '../../kernel/follow-log.js'
import { CHECKPOINTS } from './tables.js'

const PROJECTOR = 'main'

type Querying = Pick<ClickHouseReader, 'query'>
type ReadableLog = Pick<EventStore, 'readStream' | 'readAll' | 'head'>

/** The rows of all events up to the position are inserted. The anchor is the last of these events. */
export interface Checkpoint {
  readonly position: Position
  /** Absent where nothing was projected. */
  readonly anchor: LogAnchor | undefined
}

export const readCheckpoint = async (clickHouse: Querying): Promise<Checkpoint> => {
  const [row] = await clickHouse.query<CheckpointRow>(
    `SELECT toString(position) AS at, event_id, stream,
      toString(revision) AS revision_text, toString(event_position) AS event_at FROM checkpoints
    WHERE projector = {projector:String} ORDER BY checkpoints.position DESC LIMIT 1`,
    { projector: PROJECTOR },
  )
  if (row === undefined) return { position: 0n, anchor: undefined }
  const { at, event_id: id, stream, revision_text, event_at } = row
  const anchor = { id, stream, revision: BigInt(revision_text), position: BigInt(event_at) }
  return { position: BigInt(at), anchor }
}

interface CheckpointRow {
  readonly at: string
  readonly event_id: string
  readonly stream: string
  readonly revision_text: string
  readonly event_at: string
}

export const writeCheckpoint = (
  clickHouse: ClickHouseWriter,
  position: Position,
  anchor: LogAnchor,
): Promise<void> =>
  clickHouse.insert(
    CHECKPOINTS.rows([
      {
        projector: PROJECTOR,
        position,
        event_id: anchor.id,
        stream: anchor.stream,
        revision: anchor.revision,
        event_position: anchor.position,
      },
    ]),
  )

/** Why the read models of a database are not those of a log. */
export interface LogMismatch {
  readonly kind: 'log_shorter_than_checkpoint' | 'log_mismatch' | 'earlier_release'
  readonly reason: string
}

/**
 * Compares the last event that was projected with the log; undefined where the database is empty or was filled from this
 * log. Changes nothing.
 */
export const findLogMismatch = async (
  clickHouse: Querying,
  log: ReadableLog,
): Promise<LogMismatch | undefined> => {
  const tables = await clickHouse.query<{ name: string }>(
    'SELECT name FROM system.tables WHERE database = currentDatabase()',
  )
  const has = (table: string) => tables.some(({ name }) => name === table)
  if (!has('checkpoints')) return undefined
  if (has('migrations')) return formerMismatch(clickHouse, log, has('source_log'))
  const { position, anchor } = await readCheckpoint(clickHouse)
  if (anchor === undefined) return undefined
  const isFromLog = await isInLog(log, anchor)
  const last = has('usage_facts') ? await lastProjected(clickHouse, position) : 0n
  // A checkpoint may be later than the last event of its log: it also counts what is not for the service.
  const known = isFromLog || last > position ? last : position
  const head = await log.head()
  if (known > head)
    return {
      kind: 'log_shorter_than_checkpoint',
      reason: `it was filled up to position ${known}, and the log ends at position ${head}: it was restored to an earlier state, lost its last events, or is another log`,
    }
  return isFromLog ? undefined : otherLog(reasonOf(anchor))
}

/** The rows of a batch are inserted before the checkpoint is written, so some may be of later events. */
const lastProjected = async (clickHouse: Querying, checkpoint: Position): Promise<Position> => {
  const [row] = await clickHouse.query<{ at: string }>(
    'SELECT toString(max(position)) AS at FROM usage_facts WHERE position > {checkpoint:UInt64}',
    { checkpoint },
  )
  return BigInt(row?.at ?? 0)
}

const reasonOf = ({ id, position }: LogAnchor): string =>
  `it was filled from event ${id} at position ${position}, which this log does not have there`

const otherLog = (reason: string): LogMismatch => ({ kind: 'log_mismatch', reason })

/** Releases with numbered migrations noted the first event of the log, or nothing. */
const formerMismatch = async (
  clickHouse: Querying,
  log: Pick<EventStore, 'readAll'>,
  isNoted: boolean,
): Promise<LogMismatch | undefined> => {
  const noted = isNoted
    ? await clickHouse.query<{ event: string }>(
        "SELECT concat(event_id, ' ', toString(position)) AS event FROM source_log",
      )
    : []
  for await (const { id, position } of log.readAll({ limit: 1 }))
    if (noted.length > 0 && noted.every(({ event }) => event === `${id} ${position}`)) return undefined
  const [row] = await clickHouse.query<{ rows: number }>(
    'SELECT count() AS rows FROM checkpoints WHERE position > 0',
  )
  return row?.rows === 0
    ? undefined
    : noted.length === 0
      ? { kind: 'earlier_release', reason: 'an earlier release filled it, from a log that it did not note' }
      : otherLog('an earlier release filled it from another log')
}

/**
 * Before the first rows: notes the log in an empty database, and checks that no other deployment has done so meanwhile.
 *
 * @throws ClickHouseUnavailable if one has
 */
export const claimDatabase = async (
  clickHouse: ClickHouseWriter,
  log: Pick<EventStore, 'readStream'>,
  first: RecordedEvent,
): Promise<void> => {
  if ((await readCheckpoint(clickHouse)).anchor === undefined) await writeCheckpoint(clickHouse, 0n, first)
  const { anchor } = await readCheckpoint(clickHouse)
  if (anchor !== undefined && !(await isInLog(log, anchor)))
    throw new ClickHouseUnavailable('refusing', `the ClickHouse database is in use: ${reasonOf(anchor)}`)
}
