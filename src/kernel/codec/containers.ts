import * as t from 'io-ts'
import { withDigitsOf } from '../json/digits.js'
import { isJsonObject } from '../json/json.js'
import { Codec, gather, refuse, type AnyCodec } from './codec.js'

/** Absent counts as null. */
export const nullable = <A, W>(codec: Codec<A, W>): Codec<A | null, W | null> =>
  withDefault<A, W, null>(codec, null, true)

/** Each of the fields {@link nullable}. */
export const eachNullable = <F extends Readonly<Record<string, AnyCodec>>>(fields: F) =>
  Object.fromEntries(Object.entries(fields).map(([name, codec]) => [name, nullable(codec)])) as {
    readonly [K in keyof F]: Codec<t.TypeOf<F[K]> | null, F[K]['answer'] | null>
  }

/** Absent and the empty string count as null: the SDKs send all three. */
export const nullableText = (codec: Codec<string>): Codec<string | null, string | null> =>
  new Codec<string | null, string | null>(
    `${codec.name} | null`,
    (u): u is string | null => u === null || codec.is(u),
    (u, c) => (u === undefined || u === null || u === '' ? t.success(null) : codec.validate(u, c)),
    { anyOf: [codec.schema, { type: 'null' }] },
    (u) => (u === undefined || u === null || u === '' ? null : codec.quick(u)),
  )

/** Absent (and null, with `nullToo`) becomes the default. */
export const withDefault = <A, W, const D>(
  codec: Codec<A, W>,
  fallback: D,
  nullToo = false,
): Codec<A | D, W | D> =>
  new Codec<A | D, W | D>(
    nullToo ? `${codec.name} | null` : codec.name,
    (u): u is A | D => u === fallback || codec.is(u),
    (u, c) => (u === undefined || (nullToo && u === null) ? t.success(fallback) : codec.validate(u, c)),
    {
      ...(nullToo ? { anyOf: [codec.schema, { type: 'null' }] } : codec.schema),
      ...(isPlain(fallback) ? { default: fallback } : {}),
    },
    (u) => (u === undefined || (nullToo && u === null) ? fallback : codec.quick(u)),
  )

/** Null defaults are not documented: every optional field has one. */
const isPlain = (u: unknown): u is string | number | boolean =>
  typeof u === 'string' || typeof u === 'number' || typeof u === 'boolean'

const isArray = (u: unknown): u is readonly unknown[] => Array.isArray(u)

export const arrayOf = <A, W>(codec: Codec<A, W>, least = 0): Codec<readonly A[], readonly W[]> =>
  new Codec<readonly A[], readonly W[]>(
    `${codec.name}[]`,
    (u): u is readonly A[] => isArray(u) && u.length >= least && u.every(codec.is),
    (u, c) => {
      if (!isArray(u)) return refuse(u, c, 'list_type', 'Input should be a valid list')
      if (u.length < least)
        return refuse(u, c, 'too_short', `List should have at least ${least} item after validation`)
      const items: A[] = []
      const errors: t.ValidationError[] = []
      for (const [index, item] of u.entries()) {
        const quick = codec.quick(item)
        if (quick !== undefined) {
          items.push(quick)
          continue
        }
        const result = codec.validate(item, t.appendContext(c, String(index), codec, item))
        if (result._tag === 'Right') items.push(result.right)
        else if (!gather(errors, result.left)) break
      }
      return errors.length === 0 ? t.success(items) : t.failures(errors)
    },
    { type: 'array', items: codec.schema, ...(least > 0 ? { minItems: least } : {}) },
  )

/** An object used as a dictionary. */
export const recordOf = <A, W>(
  codec: Codec<A, W>,
): Codec<Readonly<Record<string, A>>, Readonly<Record<string, W>>> =>
  new Codec<Readonly<Record<string, A>>, Readonly<Record<string, W>>>(
    `Record<string, ${codec.name}>`,
    (u): u is Readonly<Record<string, A>> => isJsonObject(u) && Object.values(u).every(codec.is),
    (u, c) => {
      if (!isJsonObject(u)) return refuse(u, c, 'dict_type', 'Input should be a valid dictionary')
      const entries: [string, A][] = []
      const errors: t.ValidationError[] = []
      for (const [key, value] of Object.entries(u)) {
        const result = codec.validate(value, t.appendContext(c, key, codec, value))
        if (result._tag === 'Right') entries.push([key, result.right])
        else if (!gather(errors, result.left)) break
      }
      return errors.length === 0
        ? t.success(withDigitsOf(u, Object.fromEntries(entries)))
        : t.failures(errors)
    },
    { type: 'object', additionalProperties: codec.schema },
  )
