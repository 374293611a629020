import type * as t from 'io-ts'
import type { AnyCodec } from './codec/codec.js'

/**
 * An aggregate as a value: how its state begins, how an event changes it, and what a command makes of it.
 * Time, new ids and the actor arrive inside the command. `evolve` may change the state that it is given, and returns it:
 * a fold owns its state, so that a `Map` with 100,000 entries is not copied for each event.
 */
export interface Decider<State, Command, Event extends DomainEvent> {
  readonly initialState: () => State
  /** Returns the same state for an event of an unknown type: a newer release may have written it. */
  readonly evolve: (state: State, event: Event) => State
  readonly decide: (state: State, command: Command) => Decision<Event>
}

export interface DomainEvent {
  readonly type: string
  readonly data: object
}

/** What the codecs of an aggregate's events describe, told apart by `type`. */
export type EventOf<Codecs extends Readonly<Record<string, AnyCodec>>> = {
  [Type in keyof Codecs & string]: { readonly type: Type; readonly data: t.TypeOf<Codecs[Type]> }
}[keyof Codecs & string]

/** The facts to record, in order; none when the command repeats what is known. */
export interface Decision<Event> {
  readonly events: readonly Event[]
  /** Why the command was not taken; events may still be recorded, such as a report of the conflict. */
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
