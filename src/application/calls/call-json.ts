import { durationMs } from '../../domain/calls/duration.js'
import { endStatus } from '../../domain/calls/status.js'
import { nullable, recordOf } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { int64, json, jsonObject, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { id, projectId } from '../../kernel/ids.js'
import { withDigitsOf } from '../../kernel/json/digits.js'
import { isJsonObject, type JsonObject } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import { jsonText } from '../../kernel/json/text.js'
import { opOf } from '../../domain/calls/op.js'
import type { StoredCall } from '../../projections/calls/columns.js'
import type { CallCosts } from './call-costs.js'
import { unpricedMembers } from './unpriced-models.js'
import { modelUsage } from './usage-json.js'

/** The members of a call in the order of responses. */
const FIELDS = {
  id,
  project_id: projectId,
  op_name: string,
  display_name: nullable(string),
  trace_id: id,
  parent_id: nullable(id),
  thread_id: nullable(id),
  turn_id: nullable(id),
  started_at: instant,
  attributes: jsonObject,
  inputs: jsonObject,
  ended_at: nullable(instant),
  exception: nullable(string),
  output: json,
  summary: jsonObject,
  otel_dump: nullable(jsonObject),
  wb_user_id: nullable(string),
  wb_run_id: nullable(id),
  wb_run_step: nullable(int64),
  wb_run_step_end: nullable(int64),
  deleted_at: nullable(instant),
}
type CallField = keyof typeof FIELDS
const CALL_FIELDS = Object.keys(FIELDS) as readonly CallField[]

/** Every key is present, null without a value. */
export const readCall = open('Call', {
  says: 'A call. Columns that were not requested are null, or {} for a dictionary.',
  required: FIELDS,
  optional: {
    usage: recordOf(modelUsage),
    wb_username: string,
    storage_size_bytes: nullable(int64),
    total_storage_size_bytes: nullable(int64),
  },
})

/** The columns that are stored as JSON text, with the text for a missing value. */
const EMPTY = { attributes: '{}', inputs: '{}', output: 'null', otel_dump: 'null' } as const

const isPayload = (field: CallField): field is keyof typeof EMPTY => Object.hasOwn(EMPTY, field)

/** Members of a call that are derived on reading. */
export interface CallExtras {
  readonly feedback?: readonly JsonObject[] | undefined
  readonly costs?: ((call: StoredCall, summary: JsonObject) => CallCosts) | undefined
  /** Its inclusive usage by model, as JSON. */
  readonly usage?: string | undefined
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
  { feedback, costs, usage, others = {} }: CallExtras = {},
): string => {
  const summary = jsonText(withFeedback(wanted('summary') ? derivedSummary(call, costs) : {}, feedback))
  const textOf = (field: CallField): string => {
    if (field === 'summary') return summary
    if (isPayload(field)) return (wanted(field) ? call[field] : null) ?? EMPTY[field]
    return field !== 'deleted_at' && wanted(field) ? JSON.stringify(call[field]) : 'null'
  }
  return `{${[
    ...CALL_FIELDS.map((field) => `"${field}":${textOf(field)}`),
    ...(usage === undefined ? [] : [`"usage":${usage}`]),
    ...Object.entries(others).map(([name, value]) => `"${name}":${JSON.stringify(value)}`),
  ].join(',')}}`
}

/** The summary with the members that the server derives under `weave`. */
const derivedSummary = (call: StoredCall, costs: CallExtras['costs']): JsonObject => {
  const summary = call.summary === null ? {} : (parseJson(call.summary) as JsonObject)
  const weave = isJsonObject(summary['weave']) ? summary['weave'] : {}
  const derived = { status: statusOf(call, summary), ...latencyOf(call), ...nameOf(call) }
  return withWeave(summary, weave, { ...derived, ...(costs && costMembers(costs(call, summary))) })
}

/** Without a member for what there is none of, as the original service. */
const costMembers = ({ costs, unpriced, uncharged }: CallCosts): JsonObject => ({
  ...(Object.keys(costs).length === 0 ? {} : { costs }),
  ...(unpriced.length === 0 ? {} : unpricedMembers(unpriced)),
  ...(Object.keys(uncharged).length === 0 ? {} : { uncharged_usage: uncharged }),
})

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
  ended_at === null ? {} : { latency_ms: durationMs(started_at, ended_at) }

const nameOf = ({ display_name, op_name }: StoredCall): JsonObject =>
  display_name === null ? { trace_name: opOf(op_name) } : { display_name }
