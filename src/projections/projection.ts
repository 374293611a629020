import type { Position } from '../kernel/ports/event-store.js'
import type { AnyCodec } from '../kernel/codec/codec.js'
import type { DomainEvent, EventOf } from '../kernel/decider.js'
import type { Rows } from '../kernel/ports/clickhouse.js'

/** JSON by field. */
export type FieldTexts = Readonly<Partial<Record<string, string>>>

/** An event as projections read it, with fields that are too large for the log read from the blob store. */
export interface ProjectedEvent {
  readonly type: string
  readonly data: unknown
  /** The fields from the blob store. A large object or list of a call is only here, and null in `data`. */
  readonly texts?: FieldTexts
  /** Length of the text that a large object's digest is of. */
  readonly weaveBytes?: number
  readonly position: Position
  readonly stream?: string
  readonly recordedAt?: Date
}

/**
 * Turns events into rows of read models. `rowsOf` is pure: the same events in the same order make the same rows, and
 * inserting rows twice changes nothing. It throws if an event does not match its codec.
 */
export interface Projection {
  readonly name: string
  /** The types of events that make rows; others are not given to it. Absent: all. */
  readonly types?: ReadonlySet<string>
  /** Only events whose figures were erased are given to it, and to no other. */
  readonly ofErased?: true
  readonly rowsOf: (events: readonly ProjectedEvent[]) => readonly Rows[]
}

/** An event of some types as projections read it. */
export type Projected<Event extends DomainEvent> = Event & Omit<ProjectedEvent, keyof DomainEvent>

/** A projection of some events, by their codecs. Tables without rows are left out. */
export const projectionOf = <Codecs extends Readonly<Record<string, AnyCodec>>>(
  name: string,
  codecs: Codecs,
  rowsOf: (events: readonly Projected<EventOf<Codecs>>[]) => readonly Rows[],
): Projection => ({
  name,
  types: new Set(Object.keys(codecs)),
  rowsOf: (events) =>
    rowsOf(
      events.filter(({ type }) => Object.hasOwn(codecs, type)) as readonly Projected<EventOf<Codecs>>[],
    ).filter(({ values }) => values.length > 0),
})
