import * as E from 'fp-ts/lib/Either.js'
import { instantOf } from '../../kernel/codec/instant.js'
import { decodeEvaluation } from '../../domain/evaluations/evaluation-object.js'
import type { EvaluationRunFinished } from '../../domain/evaluations/evaluation-run.js'
import type { EvaluationCall } from '../../domain/evaluations/run-calls.js'
import { RUN_OP } from '../../domain/evaluations/run-calls.js'
import { durationSeconds } from '../../domain/calls/duration.js'
import { endCall, startCall } from '../../application/calls/record.js'
import { callNow } from '../../application/evaluations/parsed-call.js'
import { recordCalls, type WriteServices } from '../../application/evaluations/record.js'
import { RunFailed, type EvaluationServices } from '../../application/evaluations/services.js'
import { datasetRows, type RowToScore } from '../../application/evaluations/source-rows.js'
import { readObjectAs, type RunUser } from '../../application/evaluations/user-reads.js'
import { askableModel, type AskableModel } from './judge-scorer.js'
import { NO_GATEWAY } from './prepare-scorer.js'
import { runEvaluation, type RunJob } from './run-evaluation.js'
import { attributesOf, type Predict, type Prediction, type RowsOfRun } from './score-row.js'

/**
 * Asks a model for each row of the dataset of an evaluation, through the gateway, and scores the answers.
 *
 * @throws RunFailed when the run cannot succeed, whatever is tried
 */
export const evaluateModel = async (
  services: EvaluationServices,
  job: RunJob,
): Promise<EvaluationRunFinished> => {
  const { request } = job
  const user: RunUser = { userId: request.wb_user_id, keyId: request.key_id }
  const { evaluation: evaluationRef, model: modelRef } = request
  if (evaluationRef === null || modelRef === null)
    throw new RunFailed('the request names no evaluation or no model')
  const read = readObjectAs(services, user)
  const evaluation = await read(evaluationRef)
  if (evaluation === undefined) throw new RunFailed(`the Evaluation object ${evaluationRef} no longer exists`)
  const decoded = decodeEvaluation(evaluation)
  if (E.isLeft(decoded)) throw new RunFailed(`${evaluationRef} cannot be run: ${decoded.left}`)
  const model = await read(modelRef)
  if (services.askModel === undefined) throw new RunFailed(NO_GATEWAY)
  if (model === undefined) throw new RunFailed(`the model ${modelRef} no longer exists`)
  const ask = await askableModel(services.askModel)(modelRef, model, read)
  return runEvaluation(services, job, {
    opName: RUN_OP,
    evaluation: () => Promise.resolve(evaluationRef),
    model: modelRef,
    rows: datasetRows(services, decoded.right, user),
    predict: askModel(services, ask),
  })
}

/** The call of the prediction is durable before the model is asked, so that its usage is attributed to it. */
const askModel =
  (services: WriteServices, model: AskableModel) =>
  (run: RowsOfRun): Predict<RowToScore> =>
  async ({ key, example, exampleValue }, { rowId, start }) => {
    const { projectId, runId, user, signal } = run
    const id = run.idOf(key, '', 'predict')
    const recorded = await callNow(services, projectId, id)
    if (recorded !== undefined && recorded.ended_at !== null) return recordedPrediction(recorded)
    const startedAt = instantOf(services.clock.now())
    const predictStart = startCall(id, {
      project_id: projectId,
      op_name: 'LLMStructuredCompletionModel.predict',
      trace_id: runId,
      parent_id: rowId,
      started_at: startedAt,
      attributes: attributesOf(run),
      inputs: { self: run.model, example },
    })
    await recordCalls(services, recorded === undefined ? [start, predictStart] : [start], run.cause)
    const began = performance.now()
    const answer = await model(exampleValue, {
      projectId,
      runId,
      rowId,
      scoreId: id,
      traceId: runId,
      mayBeRepeat: recorded !== undefined,
      ...user,
      signal,
    })
    // The row has no prediction when the run was interrupted: it is asked for again.
    signal.throwIfAborted()
    const failed = 'failed' in answer ? answer.failed : null
    const output = 'output' in answer ? answer.output : null
    const endedAt = instantOf(services.clock.now())
    return {
      writes: [endCall({ project_id: projectId, id, ended_at: endedAt, output, exception: failed })],
      output,
      modelLatency: (performance.now() - began) / 1000,
      skipped: failed === null ? null : `the prediction failed: ${failed}`,
    }
  }

const recordedPrediction = ({ output, exception, started_at, ended_at }: EvaluationCall): Prediction => ({
  writes: [],
  output,
  modelLatency: durationSeconds(started_at, ended_at!),
  skipped: exception === null ? null : `the prediction failed: ${exception}`,
})
