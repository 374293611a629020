import { arrayOf, nullable } from '../../../kernel/codec/containers.js'
import { instant } from '../../../kernel/codec/instant.js'
import { int64, oneOf, string } from '../../../kernel/codec/leaves.js'
import { open } from '../../../kernel/codec/struct.js'
import { deadReason } from '../deliveries/events.js'
import { id, teamName } from '../../../kernel/ids.js'

const redriveAsked = open('RedriveAsked', {
  says: 'A user redrove deliveries of an automation with an Idempotency-Key. Only in logs of earlier releases.',
  required: {
    id,
    team: teamName,
    automation_id: id,
    states: arrayOf(oneOf('dead', 'canceled'), 1),
    limit: int64,
  },
  optional: {
    reason: nullable(deadReason),
    from: nullable(instant),
    to: nullable(instant),
    after: nullable(string),
  },
})

export const redriveEvents = { RedriveAsked: redriveAsked }
