import * as E from 'fp-ts/lib/Either.js'
import { rowOfCalls } from '../../domain/evaluations/rows-of-calls.js'
import {
  type EvaluationCall,
  nameIn,
  PREDICTION_OP,
  roleOf,
  ROW_OP,
  SCORE_OP,
  textOf,
  weaveAttributes,
} from '../../domain/evaluations/run-calls.js'
import type { Cause } from '../../kernel/event.js'
import type { Json, JsonObject } from '../../kernel/json/json.js'
import { later } from '../../kernel/later.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { invalidField } from '../failure.js'
import { prepareBatch } from '../feedback/record-feedback.js'
import {
  type CallReads,
  ending,
  endingOnce,
  type EvaluationWrite,
  type NewCall,
  noSuch,
  type OfCall,
  parentNow,
  requireInProgress,
  requireNotAtWork,
  type RootOf,
  runNow,
  starting,
  startOf,
  writeEvaluationCalls,
} from './logged-runs.js'
import { callNow } from './parsed-call.js'
import { rowCallsById } from './read-rows.js'
import { scoreFeedback } from './record.js'
import type { ObjectReads } from './referenced-objects.js'

/** The prediction of an id in a project with the row that it is in, if any; a 404 where there is none. */
export const predictionNow = async (reads: CallReads, { projectId, id }: OfCall) => {
  const call = await callNow(reads, projectId, id)
  const found = call && (await asPrediction(reads, projectId, call))
  if (found === undefined) throw noSuch('Prediction')
  return found
}

const asPrediction = async (reads: CallReads, projectId: string, call: EvaluationCall) => {
  const parent = await parentNow(reads, projectId, call)
  const row = parent !== undefined && roleOf(parent) === 'row' ? parent : undefined
  return roleOf(call, row) === 'prediction' ? { call, row } : undefined
}

/** A prediction is deleted with its row. */
export const rootOfPrediction: RootOf = async (reads, projectId, call) => {
  const found = await asPrediction(reads, projectId, call)
  return found && (found.row ?? found.call).id
}

interface PredictionContent {
  readonly model: string
  readonly inputs: JsonObject
  readonly output: Json
  readonly evaluation_run_id: string | null
  readonly genai_span_ref: readonly JsonObject[] | null
}

/** Records what a model answered, as a row of an evaluation run or alone. */
export const createPrediction = async (
  services: Ports,
  created: OfCall,
  rowId: string,
  content: PredictionContent,
): Promise<EvaluationWrite> => {
  const { projectId, id } = created
  const runId = content.evaluation_run_id
  const run = runId === null ? undefined : await runNow(services, projectId, runId)
  const { startedAt, isRepeat } = await startOf(services, created)
  if (run !== undefined && !isRepeat) requireInProgress(run)
  const calls = predictionCalls({ projectId, id, startedAt }, rowId, run, content)
  const ops = calls.map(({ op }) => op)
  const end = ending(created, startedAt, content.output)
  const writes = [...calls.map((call) => starting(services, call)), end]
  return (cause) => writeEvaluationCalls(services, projectId, ops, writes, cause)
}

/** The call of a prediction, after that of its row in a run. */
const predictionCalls = (
  { id, ...at }: Pick<NewCall, keyof OfCall | 'startedAt'>,
  rowId: string,
  run: EvaluationCall | undefined,
  { model, inputs, genai_span_ref: spans }: PredictionContent,
): readonly NewCall[] => {
  const ofRun = run === undefined ? {} : { evaluation_run_id: run.id }
  const call = { ...at, traceId: run?.trace_id ?? id }
  const predicted = {
    ...call,
    id,
    parentId: run === undefined ? null : rowId,
    op: PREDICTION_OP,
    weave: { prediction: 'true', model, ...ofRun, ...(spans === null ? {} : { genai_span_ref: spans }) },
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

/** Finishes the row of a prediction with the scores it has. A row that has ended stays as it is. */
export const finishPrediction = async (
  services: Ports,
  { reader, positionOf }: ObjectReads,
  prediction: OfCall,
): Promise<EvaluationWrite> => {
  const { row } = await predictionNow(services, prediction)
  if (row === undefined || row.ended_at !== null) return () => Promise.resolve({ position: undefined })
  requireNotAtWork(row)
  const { projectId } = prediction
  const position = await positionOf(projectId)
  const [calls] = await rowCallsById(reader)(projectId, [row.id], position!)
  const finished = rowOfCalls(services.sha256)(calls ?? { row, children: [], feedback: [] })
  const { output, scores, modelLatency } = finished
  const model_latency = modelLatency === null ? null : { mean: modelLatency }
  const ended = { projectId, id: row.id }
  return endingOnce(services, ended, [], (now) => [ending(ended, now, { output, scores, model_latency })])
}

/** The score of an id in a project, and the run whose row it is in; a 404 where there is no score. */
export const scoreNow = async (reads: CallReads, { projectId, id }: OfCall) => {
  const call = await callNow(reads, projectId, id)
  const parent = call && (await parentNow(reads, projectId, call))
  if (call === undefined || roleOf(call, parent) !== 'score') throw noSuch('Score')
  return { call, runId: parent !== undefined && roleOf(parent) === 'row' ? parent.parent_id : null }
}

export const rootOfScore: RootOf = async (reads, projectId, call) =>
  roleOf(call, await parentNow(reads, projectId, call)) === 'score' ? call.id : undefined

interface ScoreContent {
  readonly prediction_id: string
  readonly scorer: string
  readonly value: Json
  readonly evaluation_run_id: string | null
}

/** Records a score of a prediction, under the row of the prediction if it has one, and as feedback on the prediction. */
export const createScore = async (
  services: Ports,
  created: OfCall,
  { prediction_id, scorer, value, evaluation_run_id }: ScoreContent,
  cause: Cause,
): Promise<EvaluationWrite> => {
  const { projectId, id } = created
  const { call: prediction, row } = await predictionNow(services, { projectId, id: prediction_id })
  const runOfRow = row && (await parentNow(services, projectId, row))
  const namedRun =
    evaluation_run_id === null ? undefined : await runNow(services, projectId, evaluation_run_id)
  const runId =
    evaluation_run_id ?? textOf(weaveAttributes(prediction)['evaluation_run_id'] ?? row?.parent_id)
  const { startedAt, isRepeat } = await startOf(services, created)
  if (!isRepeat) for (const run of [runOfRow, namedRun]) if (run !== undefined) requireInProgress(run)
  const ofRun = runId === null ? {} : { evaluation_run_id: runId }
  const start = starting(services, {
    projectId,
    id,
    startedAt,
    traceId: prediction.trace_id,
    parentId: row?.id ?? prediction.id,
    op: SCORE_OP,
    weave: { score: 'true', prediction_id, scorer, ...ofRun },
    inputs: { self: scorer, inputs: prediction.inputs['inputs'] ?? {}, output: prediction.output },
  })
  const of = { projectId, callId: prediction_id, scorerRef: scorer, scoreCallId: id }
  const feedback = scoreFeedback({ ...of, scorer: nameIn(scorer)!, value })
  if (E.isLeft(feedback))
    throw invalidField(['scorer'], 'value_error', feedback.left[0]?.msg ?? 'Value error')
  const record = prepareBatch(services, [feedback.right], cause, () => id)
  const writes = [start, ending(created, startedAt, value)]
  return async (cause) => {
    const { position } = await writeEvaluationCalls(services, projectId, [SCORE_OP], writes, cause)
    return { position: later(position, (await record()).position) }
  }
}
