import * as t from 'io-ts'
import { Codec, refuse } from '../../kernel/codec/codec.js'
import { nullable, nullableText } from '../../kernel/codec/containers.js'
import { jsonObject, string } from '../../kernel/codec/leaves.js'
import { closed } from '../../kernel/codec/struct.js'
import { textUpToBytes } from '../../kernel/codec/text.js'
import { scorerFields, textFields } from '../../domain/feedback/content.js'
import { id, projectId } from '../../kernel/ids.js'

const MAX_REF_BYTES = 8192
const refText = textUpToBytes(MAX_REF_BYTES)

const REF = /^weave:\/\/\/[^/\p{Cc}]+\/[^/\p{Cc}]+\/[a-z_-]+\/\P{Cc}+$/u
const RULE = "String should be a reference of the form 'weave:///entity/project/kind/name'"

const ref: Codec<string> = new Codec(
  'ref',
  (u): u is string => refText.is(u) && REF.test(u),
  (u, c) => {
    if (!refText.is(u)) return refText.validate(u, c)
    return REF.test(u) ? t.success(u) : refuse(u, c, 'string_pattern_mismatch', RULE)
  },
  { type: 'string', description: RULE, maxLength: MAX_REF_BYTES },
  'unchanged',
)

const MAX_TYPE_BYTES = 1024
const typeText = textUpToBytes(MAX_TYPE_BYTES)

const feedbackType: Codec<string> = new Codec(
  'feedback_type',
  (u): u is string => typeText.is(u) && u !== '',
  (u, c) =>
    u === ''
      ? refuse(u, c, 'string_too_short', 'String should have at least 1 character')
      : typeText.validate(u, c),
  { type: 'string', minLength: 1, maxLength: MAX_TYPE_BYTES },
)

export const newFeedbackFields = {
  required: { project_id: projectId, weave_ref: ref, feedback_type: feedbackType, payload: jsonObject },
  optional: {
    id: nullableText(id),
    ...textFields,
    annotation_ref: nullableText(ref),
    runnable_ref: nullableText(ref),
    call_ref: nullableText(ref),
    trigger_ref: nullableText(ref),
    ...scorerFields,
    wb_user_id: nullable(string),
  },
}

export const feedbackCreate = closed('FeedbackCreateRequest', newFeedbackFields)
export type FeedbackCreate = t.TypeOf<typeof feedbackCreate>
