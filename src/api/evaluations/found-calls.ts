import type { EvaluationCall } from '../../domain/evaluations/run-calls.js'
import { isJsonObject, type JsonObject } from '../../kernel/json/json.js'
import { Failure } from '../../application/failure.js'

/** Where SDKs look for evaluations, their runs and what belongs to them. */
export const inV2 = (path: string): string => `/v2/:entity/:project/${path}`

export const noSuch = (what: string): Failure =>
  new Failure('not-found', `${what} not found in this project.`)

/** @throws Failure for a run that has ended: its summary would not include what is added. */
export const requireInProgress = (run: EvaluationCall): void => {
  requireNotAtWork(run)
  if (run.ended_at !== null)
    throw new Failure(
      'conflict',
      'The evaluation run has ended, and its summary does not change. Add predictions and scores before it is finished.',
    )
}

/** @throws Failure for a call of a run in progress that the service was asked for: only the service writes to it. */
export const requireNotAtWork = ({ attributes, ended_at }: EvaluationCall): void => {
  const { tallytree } = attributes
  if (ended_at !== null) return
  if (isJsonObject(tallytree ?? null) && 'evaluation_run_id' in (tallytree as JsonObject))
    throw new Failure('conflict', 'The service works on this evaluation run. Cancel it to end it early.')
}
