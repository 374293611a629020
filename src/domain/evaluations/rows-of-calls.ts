import { durationSeconds } from '../calls/duration.js'
import { reportedUsageOf, totalTokens } from '../calls/usage/reported.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import type { Sha256 } from '../../kernel/ports/sha256.js'
import { parseRef } from '../refs/ref.js'
import { contentDigest } from '../objects/weave-digest.js'
import type { EvaluationRow } from './row.js'
import { isOfModel, roleOf, scorerNameOf, scoresIn, type EvaluationCall } from './run-calls.js'

/** A score that was given as feedback on the model's call. */
export interface ScoreFeedback {
  readonly scorer: string
  readonly value: Json
  /** The scorer's call, where the feedback names one. */
  readonly callId: string | null
}

/** A row with what belongs to it. */
export interface RowCalls {
  /** The call of the row, or the prediction where a run has its predictions as children. */
  readonly row: EvaluationCall
  readonly children: readonly EvaluationCall[]
  readonly feedback: readonly ScoreFeedback[]
}

const FEEDBACK_PREFIX = 'wandb.runnable.'

/** The score in a piece of feedback; undefined where it is none. */
export const scoreFeedbackOf = (feedback: Readonly<Record<string, Json>>): ScoreFeedback | undefined => {
  const { feedback_type: type, payload, call_ref } = feedback
  if (typeof type !== 'string' || !type.startsWith(FEEDBACK_PREFIX)) return undefined
  const ref = typeof call_ref === 'string' ? parseRef(call_ref) : undefined
  return {
    scorer: type.slice(FEEDBACK_PREFIX.length),
    value: isJsonObject(payload) ? (payload['output'] ?? null) : null,
    callId: ref?.kind === 'call' ? ref.id : null,
  }
}

export const feedbackTypeOf = (scorer: string): string => `${FEEDBACK_PREFIX}${scorer}`

/** The row that calls and feedback amount to. */
export const rowOfCalls =
  (sha256: Sha256) =>
  (calls: RowCalls): EvaluationRow => {
    const { row } = calls
    const prediction = predictionOf(calls)
    const example = exampleOf(row)
    return {
      id: row.id,
      predictionId: prediction?.id ?? null,
      example,
      exampleDigest: exampleDigest(sha256, example),
      output: outputOf(row, prediction),
      ...scoresOf(calls),
      exception: row.exception ?? prediction?.exception ?? null,
      startedAt: row.started_at,
      endedAt: row.ended_at,
      modelLatency: latencyOf(row, prediction),
      totalTokens: prediction === undefined ? null : tokensIn(prediction.summary),
    }
  }

/** The model's call of a row: the one that the row names as its model, else the first. */
export const predictionOf = ({ row, children }: RowCalls): EvaluationCall | undefined => {
  if (roleOf(row) === 'prediction') return row
  const predictions = children
    .filter((call) => roleOf(call, row) === 'prediction')
    .sort((a, b) => order(a.started_at, b.started_at) || order(a.id, b.id))
  return predictions.find((call) => isOfModel(call, row)) ?? predictions[0]
}

/** The score calls of a row by the name of their scorer, the last one of each. */
export const scoreCallsOf = ({ row, children }: RowCalls): ReadonlyMap<string, EvaluationCall> => {
  const known = Object.keys(scoresIn(row))
  const calls = children
    .filter((call) => roleOf(call, row) === 'score')
    .sort((a, b) => order(a.started_at, b.started_at) || order(a.id, b.id))
  return new Map(calls.map((call) => [scorerNameOf(call, known), call]))
}

/** Precedence: scores in the row's own output, then score calls, then feedback. */
const scoresOf = (calls: RowCalls): Pick<EvaluationRow, 'scores' | 'scoreIds'> => {
  const own = Object.entries(scoresIn(calls.row))
  const called = [...scoreCallsOf(calls)]
  const named = calls.feedback.filter(({ callId }) => callId !== null)
  const ended = called.filter(([, { ended_at }]) => ended_at !== null)
  return {
    scores: Object.fromEntries([
      ...calls.feedback.map(({ scorer, value }): [string, Json] => [scorer, value]),
      ...ended.map(([name, { output, exception }]): [string, Json] => [
        name,
        exception === null ? output : null,
      ]),
      ...own,
    ]),
    scoreIds: Object.fromEntries([
      ...named.map(({ scorer, callId }): [string, string] => [scorer, callId!]),
      ...called.map(([name, { id }]): [string, string] => [name, id]),
    ]),
  }
}

/** A prediction has its inputs under `inputs`, or among the model's own arguments. */
export const exampleOf = (row: EvaluationCall): Json => {
  const { example, inputs, self: _self, ...others } = row.inputs
  return example ?? inputs ?? others
}

/** The row digest of a reference to a row of a dataset, else the digest that the value has as a row. */
export const exampleDigest = (sha256: Sha256, example: Json): string => {
  const edge = typeof example === 'string' ? parseRef(example)?.edges.at(-1) : undefined
  return edge?.kind === 'id' ? edge.value : contentDigest(sha256, example)
}

/** The SDKs write the model's output as `output`; rows of the TypeScript SDK and of old scorers have `model_output`. */
const outputOf = (row: EvaluationCall, prediction: EvaluationCall | undefined): Json => {
  if (prediction?.id !== row.id && isJsonObject(row.output))
    for (const key of ['output', 'model_output']) {
      const output = row.output[key]
      if (output !== undefined) return output
    }
  return prediction?.output ?? null
}

const latencyOf = (row: EvaluationCall, prediction: EvaluationCall | undefined): number | null => {
  const latency = isJsonObject(row.output) ? row.output['model_latency'] : undefined
  // The SDKs write a number, the v2 endpoints an object.
  const told = isJsonObject(latency) ? latency['mean'] : latency
  if (typeof told === 'number') return told < 0 ? null : told
  return prediction === undefined || prediction.ended_at === null
    ? null
    : durationSeconds(prediction.started_at, prediction.ended_at)
}

/** The tokens in a summary, to which the SDKs add those of all descendants; null where none were reported. */
const tokensIn = (summary: JsonObject): number | null => {
  const { models } = reportedUsageOf(summary)
  return models.length === 0 ? null : models.reduce((sum, model) => sum + totalTokens(model), 0)
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
