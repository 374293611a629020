import type {
  EvaluationRunFinished,
  EvaluationRunRequested,
} from '../../domain/evaluations/evaluation-run.js'
import type { EvaluationCall } from '../../domain/evaluations/run-calls.js'
import type { Cause } from '../../kernel/event.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { parseRef } from '../../domain/refs/ref.js'
import { copyPrediction } from './copied-prediction.js'
import { callNow } from '../../application/evaluations/parsed-call.js'
import { publishVersion } from '../../application/evaluations/record.js'
import { RunFailed, type EvaluationServices } from '../../application/evaluations/services.js'
import { sourceRows } from '../../application/evaluations/source-rows.js'
import { readObjectAs, type RunUser } from '../../application/evaluations/user-reads.js'
import { runEvaluation, type RunJob } from './run-evaluation.js'

/**
 * Applies scorers to the predictions of a source run and records them as a new run. The source is not changed.
 *
 * @throws RunFailed when the run cannot succeed, whatever is tried
 */
export const rescore = async (services: EvaluationServices, job: RunJob): Promise<EvaluationRunFinished> => {
  const { request, cause } = job
  const { project_id, source_evaluation_run_id } = request
  const user: RunUser = { userId: request.wb_user_id, keyId: request.key_id }
  const source = await callNow(services, project_id, source_evaluation_run_id ?? '')
  if (source === undefined) throw new RunFailed('the source evaluation run no longer exists')
  return runEvaluation(services, job, {
    opName: source.op_name,
    evaluation: () => rescoredEvaluation(services, source, request, user, cause),
    model: source.inputs['model'] ?? null,
    rows: sourceRows(services, project_id, source_evaluation_run_id ?? '', user),
    predict: copyPrediction,
  })
}

/**
 * The source's Evaluation object with these scorers, as a new version; its other fields are kept. An object that does
 * not exist has no new version: the run refers to what its source refers to.
 */
const rescoredEvaluation = async (
  services: EvaluationServices,
  source: EvaluationCall,
  { project_id, scorer_refs }: EvaluationRunRequested,
  user: RunUser,
  cause: Cause,
): Promise<Json> => {
  const self = source.inputs['self'] ?? null
  const ref = typeof self === 'string' ? parseRef(self) : undefined
  if (ref?.kind !== 'object' || typeof self !== 'string') return self
  const value = await readObjectAs(services, user)(self)
  if (!isJsonObject(value ?? null)) return self
  return publishVersion(
    services,
    project_id,
    ref.objectId,
    { ...(value as JsonObject), scorers: scorer_refs },
    cause,
  )
}
