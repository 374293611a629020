import {
  createPrediction,
  createScore,
  finishPrediction,
  predictionNow,
  rootOfPrediction,
  rootOfScore,
  scoreNow,
} from '../../application/evaluations/predictions.js'
import { exampleOf, predictionOf, scoreCallsOf } from '../../domain/evaluations/rows-of-calls.js'
import { type EvaluationCall, textOf, weaveAttributes } from '../../domain/evaluations/run-calls.js'
import { arrayOf, nullable, nullableText } from '../../kernel/codec/containers.js'
import { json, jsonObject, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { id } from '../../kernel/ids.js'
import { isJsonObject } from '../../kernel/json/json.js'
import { inPath } from '../server/authorization.js'
import { idFor } from '../server/idempotency.js'
import { presentReads } from '../server/read-conditions.js'
import { alsoReads, changeProject, readProjectLog, idempotent, writeProject } from '../server/route-kinds.js'
import type { AnyRoute, RouteRequest } from '../server/route.js'
import { deleteRoute, type EvaluationRouteServices, inV2, listRoute } from './call-collections.js'
import { objectOrOpRef, refText, success } from './codecs.js'

const spanRef = open('GenAiSpanRef', { required: { trace_id: string, span_id: string } })

const predictionCreate = open('PredictionCreateRequest', {
  required: { model: refText, inputs: jsonObject, output: json },
  optional: { evaluation_run_id: nullableText(id), genai_span_ref: nullable(arrayOf(spanRef)) },
})

const prediction = open('Prediction', {
  required: { prediction_id: string, model: string, inputs: jsonObject, output: json },
  optional: { evaluation_run_id: nullable(string), wb_user_id: nullable(string) },
})

const predictionIn = ({ params, project }: Pick<RouteRequest, 'params'> & { readonly project: string }) => ({
  projectId: project,
  id: params['prediction_id']!,
})

const createPredictionRoute = (services: EvaluationRouteServices): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path: inV2('predictions'),
    summary:
      'Record a prediction: what a model answered for some inputs, as a row of an evaluation run or alone.',
    body: predictionCreate,
    ...idempotent,
    response: open('PredictionCreateResponse', { required: { prediction_id: string } }),
    project: inPath,
    handle: async (request) => {
      const call = { projectId: request.project, id: idFor(services, request, 0) }
      const write = await createPrediction(services, call, idFor(services, request, 1), request.body)
      return async (cause) => ({ body: { prediction_id: call.id }, ...(await write(cause)) })
    },
  })

const listPredictions = (services: EvaluationRouteServices): AnyRoute =>
  listRoute(services, {
    summary: 'List predictions, one per line: those of a run, or all that were recorded as predictions.',
    line: prediction,
    mark: 'prediction',
    inRow: (calls) => {
      const call = predictionOf(calls)
      return call === undefined
        ? []
        : [predictionJson(call, calls.row.id === call.id ? undefined : calls.row)]
    },
    alone: (call) => predictionJson(call, undefined),
  })

const readPrediction = (services: EvaluationRouteServices): AnyRoute =>
  readProjectLog(services, {
    method: 'get',
    path: inV2('predictions/:prediction_id'),
    summary: 'Read a prediction.',
    response: prediction,
    project: inPath,
    handle: (request) => async () => {
      const { call, row } = await predictionNow(services, predictionIn(request))
      return { body: predictionJson(call, row) }
    },
  })

const finishPredictionRoute = (services: EvaluationRouteServices): AnyRoute =>
  changeProject(services, {
    method: 'post',
    path: inV2('predictions/:prediction_id/finish'),
    summary: 'Finish the row of a prediction with the scores it has. Finishing again changes nothing.',
    requestHeaders: alsoReads.requestHeaders,
    errors: [...alsoReads.errors, 'conflict'],
    response: success,
    project: inPath,
    handle: async (request) => {
      const reads = presentReads(services, request, true)
      const write = await finishPrediction(services, reads, predictionIn(request))
      return async (cause) => ({ body: { success: true }, ...(await write(cause)) })
    },
  })

/** Predictions of models, including those in runs of the SDKs. */
export const predictionRoutes = (services: EvaluationRouteServices): readonly AnyRoute[] => [
  createPredictionRoute(services),
  listPredictions(services),
  readPrediction(services),
  finishPredictionRoute(services),
  deleteRoute(services, 'prediction', 'Delete predictions with their rows and scores.', rootOfPrediction),
]

/** Takes the inputs from the row if it has them as a value. */
const predictionJson = (call: EvaluationCall, row: EvaluationCall | undefined) => {
  const weave = weaveAttributes(call)
  const example = exampleOf(row ?? call)
  const inputs = isJsonObject(example) ? example : exampleOf(call)
  return {
    prediction_id: call.id,
    model: textOf(weave['model'] ?? row?.inputs['model'] ?? call.inputs['self']) ?? call.op_name,
    inputs: isJsonObject(inputs) ? inputs : { example },
    output: call.output,
    evaluation_run_id: textOf(weave['evaluation_run_id'] ?? row?.parent_id),
    wb_user_id: call.wb_user_id,
  }
}

const scoreCreate = open('ScoreCreateRequest', {
  required: { prediction_id: id, scorer: objectOrOpRef, value: json },
  optional: { evaluation_run_id: nullableText(id) },
})

const score = open('Score', {
  required: { score_id: string, scorer: string, value: json },
  optional: { evaluation_run_id: nullable(string), wb_user_id: nullable(string) },
})

const createScoreRoute = (services: EvaluationRouteServices): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path: inV2('scores'),
    summary: 'Record a score of a prediction, also as feedback on it.',
    body: scoreCreate,
    ...idempotent,
    response: open('ScoreCreateResponse', { required: { score_id: string } }),
    project: inPath,
    handle: async (request) => {
      const call = { projectId: request.project, id: idFor(services, request, 0) }
      const write = await createScore(services, call, request.body, request.cause)
      return async (cause) => ({ body: { score_id: call.id }, ...(await write(cause)) })
    },
  })

const listScores = (services: EvaluationRouteServices): AnyRoute =>
  listRoute(services, {
    summary: 'List scores, one per line: those of a run, or all that were recorded as scores.',
    line: score,
    mark: 'score',
    inRow: (calls) => [...scoreCallsOf(calls).values()].map((call) => scoreJson(call, calls.row.parent_id)),
    alone: (call) => scoreJson(call, null),
  })

const readScore = (services: EvaluationRouteServices): AnyRoute =>
  readProjectLog(services, {
    method: 'get',
    path: inV2('scores/:score_id'),
    summary: 'Read a score.',
    response: score,
    project: inPath,
    handle:
      ({ params, project }) =>
      async () => {
        const { call, runId } = await scoreNow(services, { projectId: project, id: params['score_id']! })
        return { body: scoreJson(call, runId) }
      },
  })

/** Scores of predictions, including those in runs of the SDKs. */
export const scoreRoutes = (services: EvaluationRouteServices): readonly AnyRoute[] => [
  createScoreRoute(services),
  listScores(services),
  readScore(services),
  deleteRoute(services, 'score', 'Delete scores.', rootOfScore),
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
