import { endCall, startCall } from '../../application/calls/record.js'
import { callNow } from '../../application/evaluations/parsed-call.js'
import { publishVersion } from '../../application/evaluations/record.js'
import { type EvaluationServices, RunFailed } from '../../application/evaluations/services.js'
import { type SourceRow, sourceRows } from '../../application/evaluations/source-rows.js'
import { readObjectAs, type RunUser } from '../../application/evaluations/user-reads.js'
import { durationMs } from '../../domain/calls/duration.js'
import type {
  EvaluationRunFinished,
  EvaluationRunRequested,
} from '../../domain/evaluations/evaluation-run.js'
import type { EvaluationCall } from '../../domain/evaluations/run-calls.js'
import { parseRef } from '../../domain/refs/ref.js'
import { instantOf } from '../../kernel/codec/instant.js'
import type { Cause } from '../../kernel/event.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { runEvaluation, type RunJob } from './run-evaluation.js'
import { attributesOf, type Predict, type RowsOfRun } from './score-row.js'

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

/**
 * A copy of the source's prediction with the same duration. Usage is left out: the model was not asked again, and no
 * total may count its tokens twice.
 */
const copyPrediction =
  (run: RowsOfRun): Predict<SourceRow> =>
  async ({ key, example, row, prediction }, { rowId, startedAt }) => {
    const id = run.idOf(key, '', 'predict')
    const tookMs =
      prediction === null || prediction.ended_at === null
        ? (row.modelLatency ?? 0) * 1000
        : (durationMs(prediction.started_at, prediction.ended_at) ?? 0)
    const endedAt = instantOf(new Date(Date.parse(startedAt) + tookMs))
    const { weave: _, status_counts: __, usage: ___, ...summary } = prediction?.summary ?? {}
    const writes = [
      startCall(id, {
        project_id: run.projectId,
        trace_id: run.runId,
        parent_id: rowId,
        started_at: startedAt,
        op_name: prediction?.op_name ?? 'predict',
        attributes: attributesOf(run),
        inputs: prediction?.inputs ?? { self: run.model, example },
      }),
      endCall({
        project_id: run.projectId,
        id,
        ended_at: endedAt,
        summary,
        output: prediction === null ? row.output : prediction.output,
        exception: prediction?.exception ?? null,
      }),
    ]
    return {
      writes,
      output: row.output,
      modelLatency: row.modelLatency,
      skipped: reasonToSkip({ row, prediction }),
    }
  }

/** As the SDKs do, a prediction that failed is not scored. */
const reasonToSkip = ({ row, prediction }: Pick<SourceRow, 'row' | 'prediction'>): string | null => {
  if (row.endedAt === null) return 'the prediction did not finish'
  return row.exception !== null || (prediction !== null && prediction.exception !== null)
    ? 'the prediction failed'
    : null
}
