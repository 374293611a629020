import { endStatus } from '../../domain/call/status.js'
import { microseconds } from '../../domain/codec/instant.js'
import { withDigitsOf } from '../../domain/json/digits.js'
import { isJsonObject, type Json, type JsonObject } from '../../domain/json/json.js'
import { parseJson } from '../../domain/json/parse.js'
import { jsonText } from '../../domain/json/text.js'
import { opOf, type StoredCall } from '../../projections/calls/queries.js'

/** Members of a call that are derived on reading. */
export interface CallExtras {
  readonly feedback?: readonly JsonObject[] | undefined
  /** The costs of a call; undefined if none of its models has a price. */
  readonly costs?: ((call: StoredCall, summary: JsonObject) => JsonObject | undefined) | undefined
  readonly others?: JsonObject
}

/**
 * Serialises a call and inserts its stored payloads without parsing them. Columns that were not requested are `{}` for
 * dictionaries and null otherwise. Requested feedback and costs are in the summary even if that was not requested.
 * Other extras come last.
 */
export const callJson = (
  call: StoredCall,
  wanted: (column: string) => boolean,
  { feedback, costs, others = {} }: CallExtras = {},
): string => {
  const text = (column: string, value: Json) =>
    `"${column}":${wanted(column) ? JSON.stringify(value) : 'null'}`
  const raw = (column: string, json: string | null, otherwise: string) =>
    `"${column}":${wanted(column) ? (json ?? otherwise) : otherwise}`
  const summary = jsonText(withFeedback(wanted('summary') ? derivedSummary(call, costs) : {}, feedback))
  return `{${[
    text('id', call.id),
    text('project_id', call.project_id),
    text('op_name', call.op_name),
    text('display_name', call.display_name),
    text('trace_id', call.trace_id),
    text('parent_id', call.parent_id),
    text('thread_id', call.thread_id),
    text('turn_id', call.turn_id),
    text('started_at', call.started_at),
    raw('attributes', call.attributes, '{}'),
    raw('inputs', call.inputs, '{}'),
    text('ended_at', call.ended_at),
    text('exception', call.exception),
    raw('output', call.output, 'null'),
    `"summary":${summary}`,
    raw('otel_dump', call.otel_dump, 'null'),
    text('wb_user_id', call.wb_user_id),
    text('wb_run_id', call.wb_run_id),
    text('wb_run_step', call.wb_run_step),
    text('wb_run_step_end', call.wb_run_step_end),
    '"deleted_at":null',
    ...Object.entries(others).map(([name, value]) => `"${name}":${JSON.stringify(value)}`),
  ].join(',')}}`
}

/** The summary with the members that the server derives under `weave`. */
const derivedSummary = (call: StoredCall, costs: CallExtras['costs']): JsonObject => {
  const summary = call.summary === null ? {} : (parseJson(call.summary) as JsonObject)
  const weave = isJsonObject(summary['weave']) ? summary['weave'] : {}
  const cost = costs?.(call, summary)
  const derived = { status: statusOf(call, summary), ...latencyOf(call), ...nameOf(call) }
  return withWeave(summary, weave, { ...derived, ...(cost && { costs: cost }) })
}

const withFeedback = (summary: JsonObject, feedback: readonly JsonObject[] | undefined): JsonObject => {
  if (feedback === undefined) return summary
  const weave = isJsonObject(summary['weave']) ? summary['weave'] : {}
  return withWeave(summary, weave, { feedback })
}

const withWeave = (summary: JsonObject, weave: JsonObject, more: JsonObject): JsonObject => {
  const derived = withDigitsOf(weave, Object.assign({}, weave, more))
  return withDigitsOf(summary, Object.assign({}, summary, { weave: derived }))
}

const statusOf = ({ exception, ended_at }: StoredCall, summary: JsonObject): string =>
  ended_at === null ? 'running' : endStatus(exception, summary)

const latencyOf = ({ started_at, ended_at }: StoredCall): JsonObject =>
  ended_at === null
    ? {}
    : {
        latency_ms: Number((microseconds(ended_at) - microseconds(started_at)) / 1000n),
      }

const nameOf = ({ display_name, op_name }: StoredCall): JsonObject =>
  display_name === null ? { trace_name: opOf(op_name) } : { display_name }
