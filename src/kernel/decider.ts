import type * as t from 'io-ts'
import type { AnyCodec } from './codec/codec.js'

/**
 * An aggregate as a value: its initial state, how events change it, and what a command decides. Time, new ids and the
 * actor arrive inside the command. `evolve` may mutate the state it is given, so that a `Map` with 100,000 entries is
 * not copied for each event; the fold owns that state.
 */
export interface Decider<State, Command, Event extends DomainEvent> {
  readonly initialState: () => State
  /** Returns the state unchanged for an unknown event type: a newer release may have written it. */
  readonly evolve: (state: State, event: Event) => State
  readonly decide: (state: State, command: Command) => Decision<Event>
}

export interface DomainEvent {
  readonly type: string
  readonly data: object
}

/** The union of an aggregate's events, discriminated by `type`. */
export type EventOf<Codecs extends Readonly<Record<string, AnyCodec>>> = {
  [Type in keyof Codecs & string]: { readonly type: Type; readonly data: t.TypeOf<Codecs[Type]> }
}[keyof Codecs & string]

/** The events to append, in order; none if the command is a repeat. */
export interface Decision<Event> {
  readonly events: readonly Event[]
  /** Why the command was refused. Events may still be written, such as a report of the conflict. */
  readonly refused?: Refusal
}

export interface Refusal {
  readonly kind: 'conflict' | 'not-found' | 'forbidden' | 'invalid'
  readonly reason: string
}

export const nothing: Decision<never> = { events: [] }

export const refused = (kind: Refusal['kind'], reason: string): Decision<never> => ({
  events: [],
  refused: { kind, reason },
})
