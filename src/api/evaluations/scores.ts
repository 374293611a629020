import type { Ports } from '../../kernel/ports/ports.js'
import type { Services } from '../../application/services.js'
import * as E from 'fp-ts/lib/Either.js'
import type * as t from 'io-ts'
import { nullable, nullableText } from '../../kernel/codec/containers.js'
import { json, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { scoreCallsOf } from '../../domain/evaluations/rows-of-calls.js'
import {
  nameIn,
  roleOf,
  SCORE_OP,
  weaveAttributes,
  type EvaluationCall,
} from '../../domain/evaluations/run-calls.js'
import { id } from '../../kernel/ids.js'
import { inPath } from '../server/authorization.js'
import { invalidField } from '../../application/failure.js'
import { scoreFeedback } from '../../application/evaluations/record.js'
import { prepareBatch } from '../../application/feedback/record-feedback.js'
import type { AnyRoute } from '../server/route.js'
import { readProjectLog, writeProject } from '../server/route-kinds.js'
import { idFor } from '../server/idempotency.js'
import { later } from '../../kernel/later.js'
import { objectOrOpRef } from './codecs.js'
import { deleteRoute } from './delete-route.js'
import { callNow } from '../../application/evaluations/parsed-call.js'
import { inV2, noSuch, requireInProgress } from './found-calls.js'
import { listRoute } from './list-route.js'
import { parentNow, predictionNow, type FoundPrediction } from './predictions.js'
import { runNow, textOf } from './runs.js'
import { ending, starting, startOf, writeEvaluationCalls, type NewCall } from './write-evaluation-calls.js'

const scoreCreate = open('ScoreCreateRequest', {
  required: { prediction_id: id, scorer: objectOrOpRef, value: json },
  optional: { evaluation_run_id: nullableText(id) },
})

const score = open('Score', {
  required: { score_id: string, scorer: string, value: json },
  optional: { evaluation_run_id: nullable(string), wb_user_id: nullable(string) },
})

type ScoreServices = Pick<Services, keyof Ports | 'access' | 'reading' | 'throttle'>

/** The call of a score, under the row of the prediction if it has one. */
const scoreCall = (
  called: Pick<NewCall, 'projectId' | 'id' | 'startedAt'>,
  { call: prediction, row }: FoundPrediction,
  runId: string | null,
  { prediction_id, scorer }: t.TypeOf<typeof scoreCreate>,
): NewCall => ({
  ...called,
  traceId: prediction.trace_id,
  parentId: row?.id ?? prediction.id,
  op: SCORE_OP,
  weave: { score: 'true', prediction_id, scorer, ...(runId === null ? {} : { evaluation_run_id: runId }) },
  inputs: { self: scorer, inputs: prediction.inputs['inputs'] ?? {}, output: prediction.output },
})

const createScore = (services: ScoreServices): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path: inV2('scores'),
    summary: 'Record a score of a prediction, also as feedback on it.',
    body: scoreCreate,
    requestHeaders: ['Idempotency-Key'],
    errors: ['conflict'],
    response: open('ScoreCreateResponse', { required: { score_id: string } }),
    project: inPath,
    handle: async (request) => {
      const { body, project: projectId } = request
      const { prediction_id, scorer, value, evaluation_run_id } = body
      const found = await predictionNow(services)(projectId, prediction_id)
      const { call: prediction, row } = found
      const runOfRow = row && (await parentNow(services)(projectId, row))
      const namedRun =
        evaluation_run_id === null ? undefined : await runNow(services)(projectId, evaluation_run_id)
      const runId =
        evaluation_run_id ?? textOf(weaveAttributes(prediction)['evaluation_run_id'] ?? row?.parent_id)
      const scoreId = idFor(services, request, 0)
      const { startedAt, isRepeat } = await startOf(services, request, projectId, scoreId)
      if (!isRepeat) for (const run of [runOfRow, namedRun]) if (run !== undefined) requireInProgress(run)
      const call = scoreCall({ projectId, id: scoreId, startedAt }, found, runId, body)
      const of = { projectId, callId: prediction_id, scorerRef: scorer, scoreCallId: scoreId }
      const feedback = scoreFeedback({ ...of, scorer: nameIn(scorer)!, value })
      if (E.isLeft(feedback))
        throw invalidField(['scorer'], 'value_error', feedback.left[0]?.msg ?? 'Value error')
      const record = prepareBatch(services, [feedback.right], request.cause, () => scoreId)
      return async (cause) => {
        const writes = [starting(services, call), ending(call, startedAt, value)]
        const { position } = await writeEvaluationCalls(services, projectId, [SCORE_OP], writes, cause)
        const recorded = await record()
        return { body: { score_id: scoreId }, position: later(position, recorded.position) }
      }
    },
  })

const listScores = (services: ScoreServices): AnyRoute =>
  listRoute(services, {
    collection: 'scores',
    summary: 'List scores, one per line: those of a run, or all that were recorded as scores.',
    line: score,
    mark: 'score',
    inRow: (calls) => [...scoreCallsOf(calls).values()].map((call) => scoreJson(call, calls.row.parent_id)),
    alone: (call) => scoreJson(call, null),
  })

const readScore = (services: ScoreServices): AnyRoute =>
  readProjectLog(services, {
    method: 'get',
    path: inV2('scores/:score_id'),
    summary: 'Read a score.',
    response: score,
    project: inPath,
    handle:
      ({ params, project }) =>
      async () => {
        const call = await callNow(services, project, params['score_id']!)
        const parent = call && (await parentNow(services)(project, call))
        if (call === undefined || roleOf(call, parent) !== 'score') throw noSuch('Score')
        const runId = parent !== undefined && roleOf(parent) === 'row' ? parent.parent_id : null
        return { body: scoreJson(call, runId) }
      },
  })

const deleteScores = (services: ScoreServices): AnyRoute =>
  deleteRoute(services, {
    collection: 'scores',
    parameter: 'score_ids',
    summary: 'Delete scores.',
    rootOf: async (call, projectId) =>
      roleOf(call, await parentNow(services)(projectId, call)) === 'score' ? call.id : undefined,
  })

/** Scores of predictions, including those in runs of the SDKs. */
export const scoreRoutes = (services: ScoreServices): readonly AnyRoute[] => [
  createScore(services),
  listScores(services),
  readScore(services),
  deleteScores(services),
]

const scoreJson = (call: EvaluationCall, runId: string | null) => {
  const weave = weaveAttributes(call)
  return {
    score_id: call.id,
    scorer: textOf(weave['scorer'] ?? call.inputs['self']) ?? call.op_name,
    value: call.output,
    evaluation_run_id: textOf(weave['evaluation_run_id']) ?? runId,
    wb_user_id: call.wb_user_id,
  }
}
