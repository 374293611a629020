import type * as t from 'io-ts'
import type { Codec } from '../codec/codec.js'
import { recordOf, withDefault } from '../codec/containers.js'
import { number, string } from '../codec/leaves.js'
import { open } from '../codec/struct.js'

/**
 * A field stored as a blob because it is too large for an event. The event then has null in its place, or the head of
 * an exception.
 */
export const spilledField = open('SpilledField', {
  required: {
    /** SHA-256 of the field's JSON text, or of that text as gzip: the blob's name. */
    digest: string,
    /** Length of the JSON text in bytes. */
    size: number,
    /** SHA-256 of the JSON with sorted keys, equal for deeply equal values; the digest for values that are written once. */
    canonical: string,
  },
})
export type SpilledField = t.TypeOf<typeof spilledField>

const byField = recordOf(spilledField)

/** By field name. Every event that can be large has this as `spilled`. */
export const spilledFields: Codec<SpilledFields> = withDefault(byField, {})
export type SpilledFields = t.TypeOf<typeof byField>
