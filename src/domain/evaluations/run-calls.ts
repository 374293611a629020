import type { Instant } from '../../kernel/codec/instant.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { parseRef } from '../refs/ref.js'

/** A call of an evaluation run with its payload parsed. What it does not have is `{}`, or null for the output. */
export interface EvaluationCall {
  readonly id: string
  readonly parent_id: string | null
  readonly trace_id: string
  readonly op_name: string
  readonly display_name: string | null
  readonly started_at: Instant
  readonly ended_at: Instant | null
  readonly exception: string | null
  readonly wb_user_id: string | null
  readonly attributes: JsonObject
  readonly inputs: JsonObject
  readonly output: Json
  readonly summary: JsonObject
}

/** Whether a call that starts is an evaluation run: of an SDK, of the v2 endpoints, or of this service. */
export const isEvaluationRun = (opName: string, attributes: JsonObject | null): boolean =>
  isMarked(memberOf(attributes ?? {}, 'weave'), 'evaluation_run') || (nameIn(opName) ?? opName) === RUN_OP

/** Marks of calls are texts, but some clients write a boolean. */
export const isMarked = (weave: JsonObject, mark: 'evaluation_run' | 'prediction' | 'score'): boolean =>
  weave[mark] === 'true' || weave[mark] === true

export type CallRole = 'run' | 'row' | 'prediction' | 'score' | 'summary' | 'other'

export const RUN_OP = 'Evaluation.evaluate'
export const ROW_OP = 'Evaluation.predict_and_score'
export const SUMMARY_OP = 'Evaluation.summarize'
export const PREDICTION_OP = 'Model.predict'
export const SCORE_OP = 'Scorer.score'

const ROLES: ReadonlyMap<string, CallRole> = new Map([
  [ROW_OP, 'row'],
  // The TypeScript SDK uses this name in `Evaluation.evaluate`, and the one above in its EvaluationLogger.
  ['Evaluation.predictAndScore', 'row'],
  [SUMMARY_OP, 'summary'],
])

/** The names under which scorers of the SDKs are given the output of the model. */
const OUTPUT_INPUTS = ['output', 'model_output', 'modelOutput']

const SCORE_NAME = /(^|\.)score$/
const PREDICTION_NAME = /(^|\.)(predict|infer|forward|invoke)$/

/**
 * The role of a call in an evaluation run. Any function may be a model or a scorer, so the role of a child of a row also
 * depends on the row.
 */
export const roleOf = (call: EvaluationCall, parent?: EvaluationCall): CallRole => {
  const weave = weaveAttributes(call)
  if (isEvaluationRun(call.op_name, call.attributes)) return 'run'
  if (isMarked(weave, 'prediction')) return 'prediction'
  if (isMarked(weave, 'score') || isLoggedScore(call)) return 'score'
  const known = ROLES.get(opOf(call))
  if (known !== undefined) return known
  return parent !== undefined && ROLES.get(opOf(parent)) === 'row' ? roleInRow(call, parent) : 'other'
}

const roleInRow = (call: EvaluationCall, row: EvaluationCall): CallRole => {
  if (isOfModel(call, row)) return 'prediction'
  const op = opOf(call)
  if (Object.hasOwn(scoresIn(row), op) || SCORE_NAME.test(op)) return 'score'
  if (PREDICTION_NAME.test(op)) return 'prediction'
  return OUTPUT_INPUTS.some((name) => Object.hasOwn(call.inputs, name)) ? 'score' : 'prediction'
}

/** Whether a call is of the model that its row names: a function, or an object with a method. */
export const isOfModel = (call: EvaluationCall, row: EvaluationCall): boolean => {
  const { model } = row.inputs
  return typeof model === 'string' && (call.op_name === model || call.inputs['self'] === model)
}

/** The EvaluationLogger of both SDKs marks its calls with `_weave_eval_meta`. */
const isLoggedScore = ({ attributes }: EvaluationCall): boolean =>
  memberOf(attributes, '_weave_eval_meta')['score'] === true

export const weaveAttributes = ({ attributes }: Pick<EvaluationCall, 'attributes'>): JsonObject =>
  memberOf(attributes, 'weave')

/** The scores that the output of a row holds. */
export const scoresIn = ({ output }: EvaluationCall): JsonObject =>
  isJsonObject(output) ? memberOf(output, 'scores') : {}

const memberOf = (holder: JsonObject, name: string): JsonObject => {
  const member = holder[name]
  return isJsonObject(member) ? member : {}
}

export const textOf = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null)

/** The name of a call's op, also where the call names it by reference. */
export const opOf = ({ op_name }: EvaluationCall): string => nameIn(op_name) ?? op_name

/** The name of the object or op that a reference leads to. */
export const nameIn = (ref: Json | undefined): string | undefined => {
  const parsed = typeof ref === 'string' ? parseRef(ref) : undefined
  return parsed?.kind === 'object' ? parsed.objectId : undefined
}

/**
 * The name of the scorer of a score call. `known` are the names in the row's scores: an SDK may write a name there
 * that the object store does not allow.
 */
export const scorerNameOf = (call: EvaluationCall, known: readonly string[]): string => {
  const op = opOf(call)
  const names = [
    nameIn(weaveAttributes(call)['scorer']),
    nameIn(call.inputs['self']),
    op.replace(/\.score$/, ''),
    op,
  ].filter((name) => name !== undefined)
  const exact = names.find((name) => known.includes(name))
  if (exact !== undefined) return exact
  const similar = new Set(names.map(plain))
  return known.find((name) => similar.has(plain(name))) ?? names[0]!
}

const plain = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
