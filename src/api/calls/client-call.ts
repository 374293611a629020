import type * as t from 'io-ts'
import { describedAs } from '../../kernel/codec/codec.js'
import { nullable, nullableText, withDefault } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { int64, json, jsonObject, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { startCall, endCall, type CallWrite, type StartWrite } from '../../application/calls/record.js'
import { displayName, opName } from '../../domain/calls/content.js'
import { sdkSource } from '../../domain/calls/source.js'
import { id, projectId } from '../../kernel/ids.js'
import { isJsonObject, type JsonObject } from '../../kernel/json/json.js'

const begins = {
  required: {
    project_id: projectId,
    op_name: opName,
    started_at: instant,
    attributes: jsonObject,
    inputs: jsonObject,
  },
  optional: {
    id: nullableText(id),
    display_name: nullableText(displayName),
    trace_id: nullableText(id),
    parent_id: nullableText(id),
    thread_id: nullableText(id),
    turn_id: nullableText(id),
    otel_dump: nullable(jsonObject),
    wb_user_id: nullable(string),
    wb_run_id: nullableText(id),
    wb_run_step: nullable(int64),
  },
}

const figure = { anyOf: [{ type: 'integer' }, { type: 'null' }] }
const figures = ['requests', 'prompt_tokens', 'completion_tokens', 'total_tokens']
const otherFigures = [
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
]

/** Accepts any dictionary; usage is read from these keys. */
const summary = describedAs(jsonObject, {
  properties: {
    usage: {
      title: 'ReportedUsage',
      description:
        'Usage of the call by model, in the form of any provider or library that docs/usage.md lists. Other keys are ' +
        'stored but not counted.',
      type: 'object',
      additionalProperties: {
        type: 'object',
        properties: Object.fromEntries([...figures, ...otherFigures].map((name) => [name, figure])),
        additionalProperties: true,
      },
    },
  },
})

const ends = {
  required: { project_id: projectId, id, ended_at: instant, summary },
  optional: {
    output: withDefault(json, null),
    exception: nullableText(string),
    wb_run_step_end: nullable(int64),
  },
}

/** Ignores the client's `wb_user_id`; the server sets it. */
export const startedCall = open('StartedCall', begins)
export type StartedCall = t.TypeOf<typeof startedCall>

/** Newer clients send further keys that duplicate the start. */
export const endedCall = open('EndedCall', ends)
export type EndedCall = t.TypeOf<typeof endedCall>

/** Start and end in one, where id and trace are required. */
const { id: _id, trace_id: _trace, ...alsoBegins } = begins.optional
export const completedCall = open('CompletedCall', {
  required: { ...begins.required, id, trace_id: id, ended_at: instant, summary },
  optional: { ...alsoBegins, ...ends.optional },
})
export type CompletedCall = t.TypeOf<typeof completedCall>

export const startWrite = (call: StartedCall, id: string): StartWrite =>
  startCall(id, call, sourceOf(call.attributes))

export const completeWrites = (call: CompletedCall): readonly CallWrite[] => [
  startWrite(call, call.id),
  endCall(call),
]

const sourceOf = (attributes: JsonObject): StartWrite['source'] => {
  const source = isJsonObject(attributes['weave']) ? attributes['weave']['source'] : undefined
  return sdkSource.is(source) ? source : null
}
