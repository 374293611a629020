import type { Position } from '../domain/ports/event-store.js'
import type { Rows } from '../domain/ports/clickhouse.js'

/** An event as projections see it: fields too large for the log are back in their places. */
export interface ProjectedEvent {
  readonly type: string
  readonly data: unknown
  readonly position: Position
  /** Absent where it does not matter. */
  readonly recordedAt?: Date
}

/**
 * A read model's way from events to rows. `rowsOf` is pure: the same events in the same order give the same rows, and
 * rows given twice change nothing. It throws when an event is not what its codec describes.
 */
export interface Projection {
  readonly name: string
  readonly rowsOf: (events: readonly ProjectedEvent[]) => readonly Rows[]
}
