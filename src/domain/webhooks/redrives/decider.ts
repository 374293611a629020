import { nothing, refused, type Decider } from '../../../kernel/decider.js'
import { jsonEqual } from '../../../kernel/json/equal.js'
import type { AskRedrive } from './commands.js'
import type { RedriveAsked, RedriveEvent } from './events.js'

/** The outcome of a redrive is in the streams of its deliveries. */
export const redriveDecider: Decider<RedriveAsked | null, AskRedrive, RedriveEvent> = {
  initialState: () => null,
  evolve: (state, { type, data }) => ((type as string) === 'RedriveAsked' ? data : state),
  decide: (asked, { redrive }) => {
    if (asked === null) return { events: [{ type: 'RedriveAsked', data: redrive }] }
    return jsonEqual(asked, redrive)
      ? nothing
      : refused('conflict', 'The Idempotency-Key was already used for another redrive. Use a new key.')
  },
}
