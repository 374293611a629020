import type * as t from 'io-ts'
import { arrayOf, nullable } from '../../../kernel/codec/containers.js'
import { instant } from '../../../kernel/codec/instant.js'
import { int64, oneOf, string } from '../../../kernel/codec/leaves.js'
import { open } from '../../../kernel/codec/struct.js'
import type { EventOf } from '../../../kernel/decider.js'
import { deadReason } from '../deliveries/events.js'
import { id, teamName } from '../../../kernel/ids.js'

export const redrivenStates = arrayOf(oneOf('dead', 'canceled'), 1)

/** Selects deliveries by state, reason, schedule time, and the `next` cursor of an earlier redrive. */
export const redriveFilters = {
  reason: nullable(deadReason),
  from: nullable(instant),
  to: nullable(instant),
  after: nullable(string),
}

const redriveAsked = open('RedriveAsked', {
  says:
    'A user redrove deliveries of an automation with an Idempotency-Key: the newest deliveries in the given state ' +
    'when this was recorded. A retry resends the same deliveries.',
  required: { id, team: teamName, automation_id: id, states: redrivenStates, limit: int64 },
  optional: redriveFilters,
})

export const redriveEvents = { RedriveAsked: redriveAsked }

export type RedriveEvent = EventOf<typeof redriveEvents>
export type RedriveAsked = t.TypeOf<typeof redriveAsked>

export const redriveStream = (id: string): string => `redrive-${id}`
