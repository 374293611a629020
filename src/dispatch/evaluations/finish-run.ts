import { instantOf } from '../../kernel/codec/instant.js'
import type {
  EvaluationRunFinished,
  EvaluationRunRequested,
} from '../../domain/evaluations/evaluation-run.js'
import type { Cause } from '../../kernel/event.js'
import { EventTooLarge } from '../../kernel/ports/event-store-errors.js'
import { endCall } from '../../application/calls/record.js'
import { callNow } from '../../application/evaluations/parsed-call.js'
import { recordCalls } from '../../application/evaluations/record.js'
import type { EvaluationServices } from '../../application/evaluations/services.js'
import { writeRun } from '../../application/evaluations/requested-runs.js'
import { openCalls } from '../../application/evaluations/source-rows.js'
import { finishedRun, type RunJob } from './run-evaluation.js'
import { isStoreAway } from './store-away.js'

/** Ends the run with an exception, and all calls that it has open. */
export const fail = async (
  services: EvaluationServices,
  { request, cause }: Pick<RunJob, 'request' | 'cause'>,
  exception: string,
): Promise<void> => {
  const { project_id: projectId, id } = request
  const endedAt = instantOf(services.clock.now())
  const end = (callId: string) => endCall({ project_id: projectId, id: callId, ended_at: endedAt, exception })
  const root = await callNow(services, projectId, id)
  if (root !== undefined && root.ended_at === null) {
    const open = await openCallsIfFound(services, projectId, id)
    await recordCalls(services, [...open.filter((callId) => callId !== id), id].map(end), cause)
  }
  await finish(
    services,
    finishedRun(request, { ...(root ?? neverBegun(request)), output: null, exception }, endedAt),
    cause,
  )
}

/** A run ends even where its open calls cannot be found. */
const openCallsIfFound = async (
  services: EvaluationServices,
  projectId: string,
  id: string,
): Promise<readonly string[]> => {
  try {
    return await openCalls(services, projectId, id)
  } catch (error) {
    if (isStoreAway(error)) throw error
    const { name } = error instanceof Error ? error : new Error()
    services.log.warn('evaluation.open_calls_not_found', { run: id, error: name })
    return []
  }
}

const neverBegun = ({ requested_at }: EvaluationRunRequested) => ({
  display_name: null,
  inputs: {},
  started_at: requested_at,
  summary: {},
})

export const finish = async (
  services: Pick<EvaluationServices, 'eventStore' | 'ids'>,
  finished: EvaluationRunFinished,
  cause: Cause,
): Promise<void> => {
  const append = (run: EvaluationRunFinished) =>
    writeRun(services, { type: 'FinishEvaluationRun', finished: run })(cause)
  try {
    await append(finished)
  } catch (error) {
    if (!(error instanceof EventTooLarge)) throw error
    // The output of the run's call still has the summary.
    await append({ ...finished, summary: {} })
  }
}
