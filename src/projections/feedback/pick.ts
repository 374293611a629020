import { isJsonObject, type Json } from '../../domain/json/json.js'
import { fieldPath, listIndex } from '../../domain/query/field-path.js'
import { UnknownField } from '../../domain/query/unknown-field.js'
import { FEEDBACK_FIELDS, type StoredFeedback } from './stored-feedback.js'

/**
 * How to read a dotted field of a piece of feedback; null where there is nothing.
 *
 * @throws UnknownField
 */
export const fieldPicker = (name: string): ((feedback: StoredFeedback) => Json) => {
  const [root, ...path] = fieldPath(name)
  const field = Object.hasOwn(FEEDBACK_FIELDS, root) ? FEEDBACK_FIELDS[root] : undefined
  if (field === undefined || (path.length > 0 && field.kind !== 'json')) throw new UnknownField(name)
  const column = field.sql as keyof StoredFeedback
  return (feedback) => path.reduce<Json>(step, feedback[column])
}

const step = (value: Json, part: string): Json => {
  if (Array.isArray(value)) return (value as readonly Json[])[listIndex(part) ?? -1] ?? null
  return isJsonObject(value) && Object.hasOwn(value, part) ? value[part]! : null
}
