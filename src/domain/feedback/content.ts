import { arrayOf, nullable, nullableText, recordOf } from '../../kernel/codec/containers.js'
import { jsonObject, number, string } from '../../kernel/codec/leaves.js'
import { textUpToBytes } from '../../kernel/codec/text.js'
import { id, projectId } from '../../kernel/ids.js'
import { spilledFields } from '../../kernel/spill/fields.js'

/** Text fields besides the payload (newer clients send more). */
export const textFields = {
  creator: nullableText(textUpToBytes(8192)),
  annotation_ref: nullableText(string),
  runnable_ref: nullableText(string),
  call_ref: nullableText(string),
  trigger_ref: nullableText(string),
  queue_id: nullableText(textUpToBytes(8192)),
  span_agent_name: nullableText(textUpToBytes(8192)),
  span_agent_version: nullableText(textUpToBytes(8192)),
  span_status_code: nullableText(textUpToBytes(8192)),
  span_conversation_id: nullableText(textUpToBytes(8192)),
  span_trace_id: nullableText(textUpToBytes(8192)),
  scorer_trace_id: nullableText(textUpToBytes(8192)),
}

/** A scorer's fields besides its output. */
export const scorerFields = {
  scorer_tags: nullable(arrayOf(string)),
  scorer_tag_reasons: nullable(recordOf(string)),
  scorer_tag_confidences: nullable(recordOf(number)),
  scorer_ratings: nullable(recordOf(number)),
  scorer_rating_reasons: nullable(recordOf(string)),
  scorer_rating_confidences: nullable(recordOf(number)),
}

export const TEXT_FIELDS = Object.keys(textFields) as readonly (keyof typeof textFields)[]
export const SCORER_FIELDS = Object.keys(scorerFields) as readonly (keyof typeof scorerFields)[]

/** Fields that go to the blob store if they are large. */
export const FEEDBACK_PAYLOAD = ['payload', ...SCORER_FIELDS] as const

/** Fields that a client may set. */
export const contentFields = {
  required: { project_id: projectId, id, weave_ref: string, feedback_type: string },
  optional: { payload: nullable(jsonObject), ...textFields, ...scorerFields, spilled: spilledFields },
}
