import type { Decider, DomainEvent } from '../../src/kernel/decider.js'

/** What the last of some commands makes of an aggregate, after the others. */
export const deciding =
  <State, Command, Event extends DomainEvent>({
    initialState,
    decide,
    evolve,
  }: Decider<State, Command, Event>) =>
  (...commands: readonly Command[]) => {
    let state = initialState()
    let last = decide(state, commands[0]!)
    for (const command of commands) {
      last = decide(state, command)
      state = last.events.reduce(evolve, state)
    }
    return { types: last.events.map(({ type }) => type), events: last.events, refused: last.refused, state }
  }
