import { setTimeout as sleep } from 'node:timers/promises'
import {
  ClickHouseUnavailable,
  type ClickHouseReader,
  type ClickHouseWriter,
} from '../../kernel/ports/clickhouse.js'
import type { EventStore, Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import { isInLog, type LogAnchor } from '../../kernel/follow-log.js'
import { blocksOf, columnsOf, lossesSince, NAMES, type TableNote } from './table-note.js'
import { CHECKPOINTS } from './tables.js'

const PROJECTOR = 'main'

type Querying = Pick<ClickHouseReader, 'query'>
type ReadableLog = Pick<EventStore, 'readStream' | 'readAll' | 'head'>

/** The rows of all events up to the position are inserted. The anchor is the last of these events. */
export interface Checkpoint {
  readonly position: Position
  /** Absent where nothing was projected. */
  readonly anchor: LogAnchor | undefined
  /** Absent with it. */
  readonly noted: TableNote | undefined
}

export const readCheckpoint = async (clickHouse: Querying): Promise<Checkpoint> => {
  const [row] = await clickHouse.query<CheckpointRow>(
    `SELECT toString(position) AS at, event_id, stream,
      toString(revision) AS revision_text, toString(event_position) AS event_at, tables FROM checkpoints
    WHERE projector = {projector:String} ORDER BY checkpoints.position DESC LIMIT 1`,
    { projector: PROJECTOR },
  )
  if (row === undefined) return { position: 0n, anchor: undefined, noted: undefined }
  return { position: BigInt(row.at), anchor: anchorOf(row), noted: JSON.parse(row.tables) as TableNote }
}

const anchorOf = (row: Omit<CheckpointRow, 'at' | 'tables'>): LogAnchor => ({
  id: row.event_id,
  stream: row.stream,
  revision: BigInt(row.revision_text),
  position: BigInt(row.event_at),
})

interface CheckpointRow {
  readonly at: string
  readonly event_id: string
  readonly stream: string
  readonly revision_text: string
  readonly event_at: string
  readonly tables: string
}

export const writeCheckpoint = (
  clickHouse: ClickHouseWriter,
  position: Position,
  anchor: LogAnchor,
  noted: TableNote,
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
        tables: JSON.stringify(noted),
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
    'SELECT toString(max(greatest(started_position, ended_position, deleted_position))) AS at FROM usage_facts WHERE position > {checkpoint:UInt64}',
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

/** Claims of an empty database; `event_id` is the first of a log, or empty where the claim was taken back. */
const CLAIM = 'claim '

const claimRow = (first: LogAnchor, position: Position, event_id: string) =>
  CHECKPOINTS.rows([
    {
      projector: `${CLAIM}${first.id}`,
      position,
      event_id,
      stream: first.stream,
      revision: first.revision,
      event_position: first.position,
      tables: '',
    },
  ])

const claimsOf = async (clickHouse: Querying): Promise<readonly LogAnchor[]> => {
  const rows = await clickHouse.query<Omit<CheckpointRow, 'at' | 'tables'>>(
    `SELECT event_id, stream, toString(revision) AS revision_text, toString(event_position) AS event_at
    FROM checkpoints FINAL WHERE startsWith(projector, '${CLAIM}') AND event_id != '' ORDER BY event_id`,
  )
  return rows.map(anchorOf)
}

const CLAIM_READS = 5

/**
 * Before the first rows: notes the log in an empty database. Of deployments that do so at the same time the one with the
 * smallest event id goes on; the others take their claims back. `claimMs` is the time in which each sees the claims of
 * the others.
 *
 * @throws ClickHouseUnavailable if the database belongs to another log, or to no one yet
 */
export const claimDatabase = async (
  clickHouse: ClickHouseWriter,
  log: Pick<EventStore, 'readStream'>,
  first: RecordedEvent,
  claimMs = 0,
): Promise<void> => {
  await requireUnclaimed(clickHouse, log, first)
  await clickHouse.insert(claimRow(first, 0n, first.id))
  for (let reads = 0; reads < CLAIM_READS; reads += 1) {
    await sleep(claimMs)
    const claims = await claimsOf(clickHouse)
    if (claims[0]?.id !== first.id) break
    if (claims.length > 1) continue
    await requireUnclaimed(clickHouse, log, first)
    const noted = { columns: await columnsOf(clickHouse), blocks: {} }
    return writeCheckpoint(clickHouse, 0n, first, noted)
  }
  await clickHouse.insert(claimRow(first, 1n, ''))
  throw new DatabaseTaken('another deployment is filling it from another log')
}

const requireUnclaimed = async (
  clickHouse: Querying,
  log: Pick<EventStore, 'readStream'>,
  first: LogAnchor,
): Promise<void> => {
  const { anchor } = await readCheckpoint(clickHouse)
  if (anchor !== undefined && !(await isInLog(log, anchor))) throw new DatabaseTaken(reasonOf(anchor))
  const other = (await claimsOf(clickHouse)).find(({ id }) => id !== first.id)
  if (other !== undefined && anchor === undefined)
    throw new DatabaseTaken(`event ${other.id} of another log claims it`)
}

/**
 * Whether another deployment has claimed the database later, and may have written rows into it.
 *
 * @throws DatabaseTaken if the claim of the other comes first
 */
export const isClaimedTwice = async (
  clickHouse: Querying,
  log: Pick<EventStore, 'readStream'>,
): Promise<boolean> => {
  const [first, ...others] = await claimsOf(clickHouse)
  if (first === undefined || others.length === 0) return false
  if (await isInLog(log, first)) return true
  throw new DatabaseTaken(reasonOf(first))
}

/** The rows of another log are in the tables. */
export class DatabaseTaken extends ClickHouseUnavailable {
  constructor(reason: string) {
    super('refusing', `the ClickHouse database is in use: ${reason}`)
  }
}

/**
 * What the tables have lost since the last checkpoints, in words; empty for nothing, and for an empty database.
 */
export const lossesOf = async (
  clickHouse: Querying,
  log: Pick<EventStore, 'readStream'>,
): Promise<readonly string[]> => {
  const columns = await columnsOf(clickHouse)
  if (Object.keys(columns).length === 0) return []
  if (columns['checkpoints'] === undefined) return ['the table checkpoints is gone']
  const rows = await clickHouse.query<{ tables: string }>(
    "SELECT tables FROM checkpoints FINAL WHERE tables != '' ORDER BY projector",
  )
  const notes = rows.map(({ tables }) => JSON.parse(tables) as TableNote)
  const blocks = await blocksOf(clickHouse, NAMES)
  const losses = notes.flatMap((noted) => lossesSince(noted, { columns, blocks: blocks ?? noted.blocks }))
  if (notes.length === 0 && Object.keys(blocks ?? {}).length > 0)
    losses.push('rows of checkpoints are missing')
  return (await isClaimedTwice(clickHouse, log))
    ? [...losses, 'rows of another log may be among those of this one']
    : losses
}
