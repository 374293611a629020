import type * as t from 'io-ts'
import { recordOf } from '../codec/containers.js'
import { number, string } from '../codec/leaves.js'
import { open } from '../codec/struct.js'
import { jsonEqual } from '../json/equal.js'
import type { Json } from '../json/json.js'

/** Where a field too large for an event lies instead; its place in the event is then null (an exception's: its beginning). */
export const spilledField = open('SpilledField', {
  required: {
    /** SHA-256 of the field's JSON text, the name of its blob. */
    digest: string,
    /** Bytes of that text. */
    size: number,
    /** SHA-256 of the same JSON with sorted keys: equal for deeply equal values. */
    canonical: string,
  },
})
export type SpilledField = t.TypeOf<typeof spilledField>

export const spilledFields = recordOf(spilledField)
export type SpilledFields = t.TypeOf<typeof spilledFields>

export const START_PAYLOAD = ['inputs', 'attributes', 'otel_dump'] as const
export const END_PAYLOAD = ['output', 'summary', 'exception'] as const

export type PayloadField = (typeof START_PAYLOAD)[number] | (typeof END_PAYLOAD)[number]

interface WithPayload {
  readonly spilled: SpilledFields
}

/** Whether a field says the same on both sides, wherever it lies. */
export const samePayload = <F extends PayloadField>(
  field: F,
  a: WithPayload & Readonly<Record<F, Json>>,
  b: WithPayload & Readonly<Record<F, Json>>,
): boolean => {
  const [left, right] = [a.spilled[field], b.spilled[field]]
  if (left === undefined && right === undefined) return jsonEqual(a[field], b[field])
  return left?.canonical === right?.canonical
}
