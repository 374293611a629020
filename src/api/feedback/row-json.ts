import type { JsonObject } from '../../domain/json/json.js'
import { jsonText } from '../../domain/json/text.js'
import { fieldPicker, type StoredFeedback } from '../../projections/feedback/queries.js'

/** What clients of all versions know; newer columns are in a row where they were given. */
const ALWAYS = [
  'id',
  'project_id',
  'weave_ref',
  'wb_user_id',
  'creator',
  'created_at',
  'feedback_type',
  'payload',
  'annotation_ref',
  'runnable_ref',
  'call_ref',
  'trigger_ref',
] as const

/** A piece of feedback as clients read it. */
export const feedbackJson = (feedback: StoredFeedback): JsonObject => {
  const given = Object.entries(feedback).filter(([, value]) => value !== null)
  return {
    ...Object.fromEntries(ALWAYS.map((column) => [column, feedback[column]])),
    ...Object.fromEntries(given),
  }
}

/**
 * Its text, or that of the fields that were asked for, each under its dotted name.
 *
 * @throws UnknownField
 */
export const rowsOf = (fields: readonly string[] | null): ((feedback: StoredFeedback) => string) => {
  if (fields === null || fields.length === 0) return (feedback) => jsonText(feedbackJson(feedback))
  const pickers = [...new Set(fields)].map((field) => [field, fieldPicker(field)] as const)
  return (feedback) =>
    `{${pickers.map(([field, pick]) => `${JSON.stringify(field)}:${pick(feedback)}`).join(',')}}`
}
