import type * as t from 'io-ts'
import { nullable, recordOf } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { int64, number, oneOf, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { textUpToBytes } from '../../kernel/codec/text.js'
import type { EventOf } from '../../kernel/decider.js'
import { id, projectId } from '../../kernel/ids.js'

export const runName = textUpToBytes(256)
export const metricName = textUpToBytes(256)

/** How a run ended: successfully, with a failure, or killed by a user. */
export const endState = oneOf('finished', 'failed', 'crashed', 'killed')
export type EndState = t.TypeOf<typeof endState>

/** Every event repeats project and name of its run, so that readers need no look-up. */
const required = { project_id: projectId, run_id: id, name: runName, user: string }

const runStarted = open('RunStarted', {
  says: 'A run started.',
  required: { ...required, started_at: instant },
})

const metricsLogged = open('MetricsLogged', {
  says: 'A run logged metrics. Each step of a run is logged once.',
  required: { ...required, metrics: recordOf(number) },
  optional: { step: nullable(int64) },
})

const runFinished = open('RunFinished', {
  says: 'A run finished.',
  required: { ...required, state: endState, ended_at: instant },
})

const runFailed = open('RunFailed', {
  says: 'A run failed.',
  required: { ...required, state: endState, ended_at: instant },
})

export const runEvents = {
  RunStarted: runStarted,
  MetricsLogged: metricsLogged,
  RunFinished: runFinished,
  RunFailed: runFailed,
}

export type RunEvent = EventOf<typeof runEvents>
export type RunStarted = t.TypeOf<typeof runStarted>
export type MetricsLogged = t.TypeOf<typeof metricsLogged>

export const runStream = (projectId: string, run: string): string => `run-${projectId}/${run}`
