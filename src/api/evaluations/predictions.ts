import type { Ports } from '../../kernel/ports/ports.js'
import { presentConditionsIn } from '../server/read-conditions.js'
import type { Services } from '../../application/services.js'
import type * as t from 'io-ts'
import { arrayOf, nullable, nullableText } from '../../kernel/codec/containers.js'
import { instantOf } from '../../kernel/codec/instant.js'
import { json, jsonObject, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { exampleOf, predictionOf, rowOfCalls, type RowCalls } from '../../domain/evaluations/rows-of-calls.js'
import {
  PREDICTION_OP,
  ROW_OP,
  roleOf,
  weaveAttributes,
  type EvaluationCall,
} from '../../domain/evaluations/run-calls.js'
import { id } from '../../kernel/ids.js'
import { isJsonObject, type JsonObject } from '../../kernel/json/json.js'
import { inPath } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { alsoReads, changeProject, readProjectLog, writeProject } from '../server/route-kinds.js'
import { idFor } from '../server/idempotency.js'
import { refText, success } from './codecs.js'
import { deleteRoute } from './delete-route.js'
import { callNow } from '../../application/evaluations/parsed-call.js'
import { inV2, noSuch, requireInProgress, requireNotAtWork } from './found-calls.js'
import { listRoute } from './list-route.js'
import { rowCallsById } from '../../application/evaluations/read-rows.js'
import { runNow, textOf } from './runs.js'
import { ending, starting, startOf, writeEvaluationCalls, type NewCall } from './write-evaluation-calls.js'

const spanRef = open('GenAiSpanRef', { required: { trace_id: string, span_id: string } })

const predictionCreate = open('PredictionCreateRequest', {
  required: { model: refText, inputs: jsonObject, output: json },
  optional: { evaluation_run_id: nullableText(id), genai_span_ref: nullable(arrayOf(spanRef)) },
})

const prediction = open('Prediction', {
  required: { prediction_id: string, model: string, inputs: jsonObject, output: json },
  optional: { evaluation_run_id: nullable(string), wb_user_id: nullable(string) },
})

const noSuchPrediction = () => noSuch('Prediction')

/** A prediction with the row that it is in, if any. */
export interface FoundPrediction {
  readonly call: EvaluationCall
  readonly row: EvaluationCall | undefined
}

/** The prediction of an id in a project; a 404 where there is none. */
export const predictionNow =
  (services: Pick<Services, 'eventStore' | 'blobs'>) =>
  async (projectId: string, predictionId: string): Promise<FoundPrediction> => {
    const call = await callNow(services, projectId, predictionId)
    const found = call && (await asPrediction(services, projectId, call))
    if (found === undefined) throw noSuchPrediction()
    return found
  }

export const parentNow =
  (services: Pick<Services, 'eventStore' | 'blobs'>) =>
  async (projectId: string, { parent_id }: EvaluationCall) =>
    parent_id === null ? undefined : callNow(services, projectId, parent_id)

const asPrediction = async (
  services: Pick<Services, 'eventStore' | 'blobs'>,
  projectId: string,
  call: EvaluationCall,
): Promise<FoundPrediction | undefined> => {
  const parent = await parentNow(services)(projectId, call)
  const row = parent !== undefined && roleOf(parent) === 'row' ? parent : undefined
  return roleOf(call, row) === 'prediction' ? { call, row } : undefined
}

type PredictionServices = Pick<Services, keyof Ports | 'access' | 'reading' | 'throttle'>

/** The call of a prediction, after that of its row in a run. */
const predictionCalls = (
  { id, ...at }: Pick<NewCall, 'projectId' | 'id' | 'startedAt'>,
  rowId: string,
  run: EvaluationCall | undefined,
  { model, inputs, genai_span_ref: spans }: t.TypeOf<typeof predictionCreate>,
): readonly NewCall[] => {
  const ofRun = run === undefined ? {} : { evaluation_run_id: run.id }
  const call = { ...at, traceId: run?.trace_id ?? id }
  const predicted = {
    ...call,
    id,
    parentId: run === undefined ? null : rowId,
    op: PREDICTION_OP,
    weave: { prediction: 'true', model, ...ofRun, ...(spans === null ? {} : { genai_span_ref: [...spans] }) },
    inputs: { self: model, inputs },
  }
  if (run === undefined) return [predicted]
  const row = {
    ...call,
    id: rowId,
    parentId: run.id,
    op: ROW_OP,
    weave: { ...ofRun, predict_call_id: id },
    inputs: { self: run.inputs['self'] ?? null, model, example: inputs },
  }
  return [row, predicted]
}

const createPrediction = (services: PredictionServices): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path: inV2('predictions'),
    summary:
      'Record a prediction: what a model answered for some inputs, as a row of an evaluation run or alone.',
    body: predictionCreate,
    requestHeaders: ['Idempotency-Key'],
    errors: ['conflict'],
    response: open('PredictionCreateResponse', { required: { prediction_id: string } }),
    project: inPath,
    handle: async (request) => {
      const { body, project: projectId } = request
      const { evaluation_run_id: runId } = body
      const run = runId === null ? undefined : await runNow(services)(projectId, runId)
      const [id, rowId] = [idFor(services, request, 0), idFor(services, request, 1)]
      const { startedAt, isRepeat } = await startOf(services, request, projectId, id)
      if (run !== undefined && !isRepeat) requireInProgress(run)
      const calls = predictionCalls({ projectId, id, startedAt }, rowId, run, body)
      const ops = calls.map(({ op }) => op)
      return async (cause) => {
        const end = ending({ projectId, id }, startedAt, body.output)
        const writes = [...calls.map((call) => starting(services, call)), end]
        const { position } = await writeEvaluationCalls(services, projectId, ops, writes, cause)
        return { body: { prediction_id: id }, position }
      }
    },
  })

const listPredictions = (services: PredictionServices): AnyRoute =>
  listRoute(services, {
    collection: 'predictions',
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

const readPrediction = (services: PredictionServices): AnyRoute =>
  readProjectLog(services, {
    method: 'get',
    path: inV2('predictions/:prediction_id'),
    summary: 'Read a prediction.',
    response: prediction,
    project: inPath,
    handle:
      ({ params, project }) =>
      async () => {
        const { call, row } = await predictionNow(services)(project, params['prediction_id']!)
        return { body: predictionJson(call, row) }
      },
  })

const rowOutput = ({ sha256 }: Pick<Services, 'sha256'>, calls: RowCalls): JsonObject => {
  const { output, scores, modelLatency } = rowOfCalls(sha256)(calls)
  return { output, scores, model_latency: modelLatency === null ? null : { mean: modelLatency } }
}

const finishPrediction = (services: PredictionServices): AnyRoute =>
  changeProject(services, {
    method: 'post',
    path: inV2('predictions/:prediction_id/finish'),
    summary: 'Finish the row of a prediction with the scores it has. Finishing again changes nothing.',
    requestHeaders: alsoReads.requestHeaders,
    errors: [...alsoReads.errors, 'conflict'],
    response: success,
    project: inPath,
    handle: async ({ params, project: projectId, headers, reader }) => {
      const { row } = await predictionNow(services)(projectId, params['prediction_id']!)
      if (row === undefined || row.ended_at !== null) return () => ({ body: { success: true } })
      requireNotAtWork(row)
      const conditions = { ...presentConditionsIn(headers), stale: false }
      const position = await services.reading.waitForNow(projectId, conditions)
      const [calls] = await rowCallsById(reader)(projectId, [row.id], position)
      const output = rowOutput(services, calls ?? { row, children: [], feedback: [] })
      return async (cause) => {
        const end = ending({ projectId, id: row.id }, instantOf(services.clock.now()), output)
        try {
          const { position } = await writeEvaluationCalls(services, projectId, [], [end], cause)
          return { body: { success: true }, position }
        } catch (error) {
          // Another request may have finished it meanwhile.
          if ((await callNow(services, projectId, row.id))?.ended_at === null) throw error
          return { body: { success: true } }
        }
      }
    },
  })

const deletePredictions = (services: PredictionServices): AnyRoute =>
  deleteRoute(services, {
    collection: 'predictions',
    parameter: 'prediction_ids',
    summary: 'Delete predictions with their rows and scores.',
    rootOf: async (call, projectId) => {
      const found = await asPrediction(services, projectId, call)
      return found === undefined ? undefined : (found.row?.id ?? found.call.id)
    },
  })

/** Predictions of models, including those in runs of the SDKs. */
export const predictionRoutes = (services: PredictionServices): readonly AnyRoute[] => [
  createPrediction(services),
  listPredictions(services),
  readPrediction(services),
  finishPrediction(services),
  deletePredictions(services),
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
