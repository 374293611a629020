import type { Instant } from '../../domain/codec/instant.js'
import type { Position } from '../../domain/ports/event-store.js'
import type { Rows } from '../../domain/ports/clickhouse.js'
import { dateTime64 } from '../clickhouse-values.js'

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

/** A request to make the read models anew, and what became of it. */
export interface Rebuild {
  readonly id: string
  /** Counts the looks at it, from the request, which is 0. */
  readonly version: number
  readonly state: RebuildState
  readonly requested_position: Position
  readonly requested_at: Instant
  readonly requested_by: string
  readonly started_at: Instant | null
  readonly finished_at: Instant | null
  /** How far in the log the new tables are, and how far they have to come. */
  readonly reached: Position
  readonly target: Position
  /** Events projected since it was started, or taken up again. */
  readonly events: number
  readonly events_per_second: number
  readonly remaining_seconds: number | null
  /** Read models that said something else before. */
  readonly changed_models: readonly string[]
  /** Once they are swapped: the identity of the table made anew, by the table's name. */
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
  changed_models: ({ changed_models }) => changed_models,
  rebuilt: ({ rebuilt }) => rebuilt,
  reason: ({ reason }) => reason,
} satisfies Readonly<Record<keyof Rebuild, (rebuild: Rebuild) => unknown>>

export const rebuildRows = (rebuilds: readonly Rebuild[]): Rows => ({
  table: 'rebuilds',
  columns: Object.keys(COLUMNS),
  values: rebuilds.map((rebuild) => Object.values(COLUMNS).map((valueOf) => valueOf(rebuild))),
})
