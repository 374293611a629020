import type { JsonObject } from '../../domain/json/json.js'
import { jsonText } from '../../domain/json/text.js'
import { fieldPicker, type StoredFeedback } from '../../projections/feedback/queries.js'

/** Columns that every client version knows; newer columns are only included if set. */
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

export const feedbackJson = (feedback: StoredFeedback): JsonObject => {
  const given = Object.entries(feedback).filter(([, value]) => value !== null)
  return {
    ...Object.fromEntries(ALWAYS.map((column) => [column, feedback[column]])),
    ...Object.fromEntries(given),
  }
}

/**
 * Serialises feedback, or only the requested fields, each under its dotted name.
 *
 * @throws UnknownField
 */
export const rowsOf = (fields: readonly string[] | null): ((feedback: StoredFeedback) => string) => {
  if (fields === null || fields.length === 0) return (feedback) => jsonText(feedbackJson(feedback))
  const pickers = [...new Set(fields)].map((field) => [field, fieldPicker(field)] as const)
  return (feedback) =>
    `{${pickers.map(([field, pick]) => `${JSON.stringify(field)}:${pick(feedback)}`).join(',')}}`
}
