import type * as t from 'io-ts'
import { nullable, nullableText, withDefault } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { int64, json, jsonObject, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { textUpToBytes, textUpToCharacters } from '../../kernel/codec/text.js'
import { id, projectId } from '../../kernel/ids.js'
import { canonicalJson } from '../../kernel/json/canonical.js'
import { withDigitsOf } from '../../kernel/json/digits.js'
import { spilledFields } from '../../kernel/spill/fields.js'
import { samePayload } from './payload.js'

export const opName = textUpToBytes(8192)
export const displayName = textUpToCharacters(1024)

/** Fields of a start without the trace and the fields that the server fills in. */
export const startFields = {
  required: { project_id: projectId, id, op_name: opName, started_at: instant },
  optional: {
    display_name: nullableText(displayName),
    parent_id: nullableText(id),
    thread_id: nullableText(id),
    turn_id: nullableText(id),
    attributes: nullable(jsonObject),
    inputs: nullable(jsonObject),
    otel_dump: nullable(jsonObject),
    wb_run_id: nullableText(id),
    wb_run_step: nullable(int64),
    spilled: spilledFields,
  },
}

/** Fields of an end. */
export const endFields = {
  required: { project_id: projectId, id, ended_at: instant },
  optional: {
    output: withDefault(json, null),
    summary: nullable(jsonObject),
    exception: nullableText(string),
    wb_run_step_end: nullable(int64),
    spilled: spilledFields,
  },
}

export const callStart = open('CallStart', {
  required: startFields.required,
  optional: { ...startFields.optional, trace_id: nullableText(id) },
})
export type CallStart = t.TypeOf<typeof callStart>

export const callEnd = open('CallEnd', endFields)
export type CallEnd = t.TypeOf<typeof callEnd>

/** Ignores the trace and the fields that the server fills in. */
export const sameStart = (a: Omit<CallStart, 'trace_id'>, b: Omit<CallStart, 'trace_id'>): boolean =>
  a.op_name === b.op_name &&
  a.started_at === b.started_at &&
  a.display_name === b.display_name &&
  a.parent_id === b.parent_id &&
  a.thread_id === b.thread_id &&
  a.turn_id === b.turn_id &&
  a.wb_run_id === b.wb_run_id &&
  a.wb_run_step === b.wb_run_step &&
  samePayload('inputs', a, b) &&
  samePayload('attributes', a, b) &&
  samePayload('otel_dump', a, b)

/** A start without a trace may be repeated without one, or with the trace it was answered. */
export const sameTrace = (
  { trace_id }: Pick<CallStart, 'trace_id'>,
  known: { readonly trace_id: string; readonly trace_from: string },
): boolean => (trace_id === null ? known.trace_from !== 'client' : trace_id === known.trace_id)

export const sameEnd = (a: CallEnd, b: CallEnd): boolean =>
  a.ended_at === b.ended_at &&
  a.wb_run_step_end === b.wb_run_step_end &&
  samePayload('exception', a, b) &&
  samePayload('output', a, b) &&
  samePayload('summary', a, b)

/** Equal for starts, and for ends, of equal content, whether their payload is inline or spilled. */
export const fingerprint = (content: CallStart | CallEnd): string =>
  canonicalJson(
    withDigitsOf(content, {
      ...content,
      spilled: Object.fromEntries(
        Object.entries(content.spilled).map(([field, { canonical }]) => [field, canonical]),
      ),
    }),
  )
