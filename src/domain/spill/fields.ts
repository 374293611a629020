import type * as t from 'io-ts'
import type { Codec } from '../codec/codec.js'
import { recordOf, withDefault } from '../codec/containers.js'
import { number, string } from '../codec/leaves.js'
import { open } from '../codec/struct.js'

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

const byField = recordOf(spilledField)

/** By the name of the field. Every event that can be large has this as `spilled`. */
export const spilledFields: Codec<SpilledFields> = withDefault(byField, {})
export type SpilledFields = t.TypeOf<typeof byField>
