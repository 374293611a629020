import { digitsIn } from '../../domain/json/digits.js'
import type { Json } from '../../domain/json/json.js'
import { jsonText } from '../../domain/json/text.js'
import { fieldPath, listIndex } from '../../domain/query/field-path.js'
import { UnknownField } from '../../domain/query/unknown-field.js'
import { FEEDBACK_FIELDS, type StoredFeedback } from './stored-feedback.js'

/**
 * How to read a dotted field of a piece of feedback, as JSON text; null where there is nothing.
 *
 * @throws UnknownField
 */
export const fieldPicker = (name: string): ((feedback: StoredFeedback) => string) => {
  const [root, ...path] = fieldPath(name)
  const field = Object.hasOwn(FEEDBACK_FIELDS, root) ? FEEDBACK_FIELDS[root] : undefined
  if (field === undefined || (path.length > 0 && field.kind !== 'json')) throw new UnknownField(name)
  const column = (root === 'payload_dump' ? 'payload' : root) as keyof StoredFeedback
  return (feedback) => textAt(feedback[column], path)
}

const textAt = (root: Json, path: readonly string[]): string => {
  let value = root
  let digits: string | undefined
  for (const part of path) {
    const key = keyIn(value, part)
    if (key === undefined) return 'null'
    const holder = value as Readonly<Record<string, Json>>
    digits = digitsIn(holder, key)
    value = holder[key]!
  }
  return digits ?? jsonText(value)
}

const keyIn = (value: Json, part: string): string | undefined => {
  const key = Array.isArray(value) ? String(listIndex(part) ?? -1) : part
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? key : undefined
}
