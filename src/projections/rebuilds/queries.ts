import type { Instant } from '../../kernel/codec/instant.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { raw, select, sql, typed } from '../sql.js'
import { reading } from '../table.js'
import { REBUILDS } from './tables.js'

/** `superseded`: the tables are newer than the request, so they were made from the log anyway. */
export const REBUILD_STATES = [
  'requested',
  'running',
  'swapping',
  'finished',
  'failed',
  'superseded',
] as const
export type RebuildState = (typeof REBUILD_STATES)[number]

export const UNFINISHED: readonly RebuildState[] = ['requested', 'running', 'swapping']

/** A request to make the read models again from the log, and its outcome. */
export interface Rebuild {
  readonly id: string
  /** Counts the updates of this row. The request is version 0, so that a replay of the log never hides the outcome. */
  readonly version: number
  readonly state: RebuildState
  readonly requested_position: Position
  readonly requested_at: Instant
  readonly requested_by: string
  readonly started_at: Instant | null
  readonly finished_at: Instant | null
  /** The log position of the new tables, and the one they have to reach. */
  readonly reached: Position
  readonly target: Position
  /** Events projected since the rebuild was started or continued. */
  readonly events: number
  readonly events_per_second: number
  readonly remaining_seconds: number | null
  /** While tables are exchanged: the UUID of each new table, by name. */
  readonly rebuilt: Readonly<Record<string, string>>
  /** Why it failed. */
  readonly reason: string | null
}

type Reader = Pick<ClickHouseReader, 'query'>

/** Positions as text, in place of the columns of their names. */
const POSITIONS = ['requested_position', 'reached', 'target']
const SELECTED = raw(
  REBUILDS.names.map((name) => (POSITIONS.includes(name) ? `toString(${name}) AS ${name}` : name)).join(', '),
)
const asRebuild = reading(REBUILDS.columns)

/** Rebuilds in one of the given states, the newest request first. */
export const rebuildsIn = async (
  reader: Reader,
  states: readonly RebuildState[],
  limit: number,
): Promise<readonly Rebuild[]> => {
  const rows = await select<Rebuild>(
    reader,
    sql`SELECT ${SELECTED} FROM rebuilds FINAL WHERE state IN ${states}
    ORDER BY rebuilds.requested_position DESC LIMIT ${typed('UInt64', limit)}`,
  )
  return rows.map(asRebuild)
}

export const rebuildOf = async (reader: Reader, id: string): Promise<Rebuild | undefined> => {
  const [row] = await select<Rebuild>(reader, sql`SELECT ${SELECTED} FROM rebuilds FINAL WHERE id = ${id}`)
  return row && asRebuild(row)
}
