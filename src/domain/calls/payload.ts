import { memberEqual } from '../../kernel/json/equal.js'
import type { Json } from '../../kernel/json/json.js'
import type { SpilledFields } from '../../kernel/spill/fields.js'

export const START_PAYLOAD = ['inputs', 'attributes', 'otel_dump'] as const
export const END_PAYLOAD = ['output', 'summary', 'exception'] as const

export type PayloadField = (typeof START_PAYLOAD)[number] | (typeof END_PAYLOAD)[number]

interface WithPayload {
  readonly spilled: SpilledFields
}

/** Whether a field has equal content in both, inline or spilled. */
export const samePayload = <F extends PayloadField>(
  field: F,
  a: WithPayload & Readonly<Record<F, Json>>,
  b: WithPayload & Readonly<Record<F, Json>>,
): boolean => {
  const [left, right] = [a.spilled[field], b.spilled[field]]
  if (left === undefined && right === undefined) return memberEqual(a, b, field)
  return left?.canonical === right?.canonical
}
