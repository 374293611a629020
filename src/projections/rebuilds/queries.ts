import type { Instant } from '../../kernel/codec/instant.js'
import type { ClickHouseReader, Rows } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { dateTime64, instantFrom } from '../clickhouse-values.js'

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

const COLUMNS = {
  id: ({ id }) => id,
  version: ({ version }) => version,
  state: ({ state }) => state,
  requested_position: ({ requested_position }) => String(requested_position),
  requested_at: ({ requested_at }) => dateTime64(requested_at),
  requested_by: ({ requested_by }) => requested_by,
  started_at: ({ started_at }) => started_at && dateTime64(started_at),
  finished_at: ({ finished_at }) => finished_at && dateTime64(finished_at),
  reached: ({ reached }) => String(reached),
  target: ({ target }) => String(target),
  events: ({ events }) => events,
  events_per_second: ({ events_per_second }) => events_per_second,
  remaining_seconds: ({ remaining_seconds }) => remaining_seconds,
  rebuilt: ({ rebuilt }) => rebuilt,
  reason: ({ reason }) => reason,
} satisfies Readonly<Record<keyof Rebuild, (rebuild: Rebuild) => unknown>>

export const rebuildRows = (rebuilds: readonly Rebuild[]): Rows => ({
  table: 'rebuilds',
  columns: Object.keys(COLUMNS),
  values: rebuilds.map((rebuild) => Object.values(COLUMNS).map((valueOf) => valueOf(rebuild))),
})

type Reader = Pick<ClickHouseReader, 'query'>

/** Rebuilds in one of the given states, the newest request first. */
export const rebuildsIn = async (
  reader: Reader,
  states: readonly RebuildState[],
  limit: number,
): Promise<readonly Rebuild[]> => {
  const rows = await reader.query<RebuildRow>(
    `SELECT ${SELECTED} FROM rebuilds FINAL WHERE state IN {states:Array(String)}
    ORDER BY rebuilds.requested_position DESC LIMIT {limit:UInt64}`,
    { states, limit },
  )
  return rows.map(rebuildFrom)
}

export const rebuildOf = async (reader: Reader, id: string): Promise<Rebuild | undefined> => {
  const [row] = await reader.query<RebuildRow>(
    `SELECT ${SELECTED} FROM rebuilds FINAL WHERE id = {id:String}`,
    { id },
  )
  return row && rebuildFrom(row)
}

const SELECTED = `${Object.keys(COLUMNS).join(', ')}, toString(requested_position) AS requested_text,
  toString(reached) AS reached_text, toString(target) AS target_text`

type Positions = 'requested_position' | 'reached' | 'target'
type Times = 'requested_at' | 'started_at' | 'finished_at'

type RebuildRow = Omit<Rebuild, Positions | Times> &
  Readonly<Record<'requested_text' | 'reached_text' | 'target_text' | 'requested_at', string>> &
  Readonly<Record<'started_at' | 'finished_at', string | null>>

const rebuildFrom = ({ requested_text, reached_text, target_text, ...row }: RebuildRow): Rebuild => ({
  ...row,
  requested_position: BigInt(requested_text),
  requested_at: instantFrom(row.requested_at),
  started_at: row.started_at === null ? null : instantFrom(row.started_at),
  finished_at: row.finished_at === null ? null : instantFrom(row.finished_at),
  reached: BigInt(reached_text),
  target: BigInt(target_text),
})
