import { nullable, nullableText, recordOf } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { int64, integerBetween, number, oneOf, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { id } from '../../kernel/ids.js'
import { endState, runName } from '../../domain/runs/events.js'
import { givenMetrics } from '../../domain/runs/given-metrics.js'

/** A second request with the same id and name is a retry. */
export const newRun = closed('NewRun', { required: { name: runName }, optional: { id: nullableText(id) } })

export const createdRun = open('CreatedRun', { required: { id } })

/** Steps must be safe integers. */
const step = integerBetween(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)

export const newMetrics = closed('NewMetrics', {
  required: { metrics: givenMetrics },
  optional: { step: nullable(step) },
})

export const runEnd = closed('RunEnd', { required: { state: endState } })

const loggedMetrics = open('LoggedMetrics', {
  required: { metrics: recordOf(number), step: nullable(int64) },
})

export const run = open('Run', {
  required: {
    id,
    name: string,
    user: string,
    state: oneOf('running', 'finished', 'failed', 'crashed', 'killed'),
    started_at: instant,
    ended_at: nullable(instant),
    last_logged: nullable(loggedMetrics),
  },
})
