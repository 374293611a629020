import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { Codec, gather, refuse, type AnyCodec } from '../../kernel/codec/codec.js'
import { nullable, withDefault } from '../../kernel/codec/containers.js'
import { boolean, integerBetween, number, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { rememberDigits, withDigitsOf } from '../../kernel/json/digits.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { pythonFloat } from '../../kernel/json/python-float.js'

type Fields = Readonly<Record<string, AnyCodec>>

interface Model {
  readonly required?: Fields
  readonly optional?: Fields
  readonly bases?: readonly string[]
  /** Unknown members are refused; otherwise they are dropped. */
  readonly isClosed?: boolean
  /** Fields that are floats in Python, which writes 5 as 5.0. */
  readonly floats?: readonly string[]
  /** The names of fields that may be used in place of their aliases. */
  readonly names?: Readonly<Record<string, string>>
  /** What is wrong with a value whose fields are valid. */
  readonly problem?: (value: JsonObject) => string | undefined
}

/**
 * A pydantic model of Python `weave`. Decoding completes the value as the SDK serialises it: with its defaults, its class
 * and its bases.
 */
export const model = (name: string, { bases = ['BaseModel'], floats = [], ...shape }: Model) => {
  const { required = {}, optional = {}, names = {}, isClosed = false, problem } = shape
  const fields = (isClosed ? closed : open)(name, { required, optional }) as Codec<JsonObject>
  const complete = (decoded: JsonObject): JsonObject => {
    const value = { _type: name, ...decoded, _class_name: name, _bases: bases } as JsonObject
    for (const key of floats) {
      const float = value[key]
      if (typeof float === 'number' && Number.isInteger(float)) rememberDigits(value, key, pythonFloat(float))
    }
    return value
  }
  return new Codec<JsonObject>(
    name,
    (u): u is JsonObject => fields.is(u),
    (u, context) => {
      const decoded = fields.validate(isJsonObject(u) ? membersOf(u, names) : u, context)
      const wrong = E.isRight(decoded) ? problem?.(decoded.right) : undefined
      if (wrong !== undefined) return refuse(u, context, 'value_error', `Value error, ${wrong}`)
      return E.map(complete)(decoded)
    },
    fields.schema,
  )
}

const METADATA = new Set(['_type', '_class_name', '_bases'])

/** The members of a value that may be serialised already, under the aliases of their fields. */
const membersOf = (value: JsonObject, names: Readonly<Record<string, string>>): JsonObject => {
  const members: [string, Json][] = []
  for (const key of Object.keys(value)) {
    if (METADATA.has(key)) continue
    const alias = Object.hasOwn(names, key) ? names[key]! : key
    if (alias === key || !Object.hasOwn(value, alias)) members.push([alias, value[key]!])
  }
  return Object.fromEntries(members)
}

/** A model that clients publish. */
export const builtinClass = (name: string, { optional, bases = [], ...shape }: Model) =>
  model(name, {
    ...shape,
    bases: [...bases, 'BaseObject', 'BaseModel'],
    optional: { name: nullable(string), description: nullable(string), ...optional },
  })

/** Accepts what pydantic converts. */
const converted = <A>(codec: Codec<A>, convert: (u: unknown) => unknown): Codec<A> =>
  new Codec<A>(codec.name, codec.is, (u, context) => codec.validate(convert(u), context), codec.schema)

const INTEGER = /^\s*[+-]?\d{1,16}(?:\.0*)?\s*$/
const NUMBER = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?\s*$/i

const numberIn =
  (form: RegExp) =>
  (u: unknown): unknown =>
    typeof u === 'boolean' || (typeof u === 'string' && form.test(u)) ? Number(u) : u

export const wholeBetween = (least: number, most: number): Codec<number> =>
  converted(integerBetween(least, most), numberIn(INTEGER))

export const whole = wholeBetween(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)

export const float = converted(number, numberIn(NUMBER))

const WORDS = new Map<unknown, boolean>([
  ...[1, '1', 'true', 't', 'yes', 'y', 'on'].map((word) => [word, true] as const),
  ...[0, '0', 'false', 'f', 'no', 'n', 'off'].map((word) => [word, false] as const),
])

export const flag = converted(boolean, (u) => WORDS.get(typeof u === 'string' ? u.toLowerCase() : u) ?? u)

/** Reads each value with the codec that fits its form. */
export const byForm = (
  name: string,
  codecFor: (u: Json) => AnyCodec | undefined,
  rule: string,
): Codec<Json> =>
  new Codec<Json>(
    name,
    (u): u is Json => codecFor(u as Json)?.is(u) ?? false,
    (u, context) =>
      (codecFor(u as Json)?.validate(u, context) as t.Validation<Json> | undefined) ??
      refuse(u, context, 'union_tag_invalid', rule),
    {},
  )

/** A model that a member of the value names. */
export const named = (member: string, models: Readonly<Record<string, Codec<JsonObject>>>) =>
  byForm(
    member,
    (u) => {
      const name = isJsonObject(u) ? u[member] : undefined
      return typeof name === 'string' && Object.hasOwn(models, name) ? models[name] : undefined
    },
    `${member} should be one of ${Object.keys(models).join(', ')}`,
  )

/** A list with one codec for each place. */
export const tupleOf = (...codecs: readonly AnyCodec[]): Codec<Json> =>
  new Codec<Json>(
    'tuple',
    (u): u is Json =>
      Array.isArray(u) && u.length === codecs.length && codecs.every((codec, at) => codec.is(u[at])),
    (u, context) => {
      if (!Array.isArray(u) || u.length !== codecs.length)
        return refuse(u, context, 'tuple_type', `Input should be a list of ${codecs.length}`)
      const errors: t.ValidationError[] = []
      const items = codecs.map((codec, at): Json => {
        const item = codec.validate(u[at], t.appendContext(context, String(at), codec, u[at]))
        if (E.isRight(item)) return item.right as Json
        gather(errors, item.left)
        return null
      })
      return errors.length === 0 ? t.success(items) : t.failures(errors)
    },
    {},
  )

/** Absent becomes the model with its defaults. */
export const orDefaults = (codec: Codec<JsonObject>): Codec<JsonObject> =>
  converted(codec, (u) => (u === undefined ? {} : u))

/** The same codec for values that keep a further rule. */
export const ruled = <A>(codec: Codec<A>, problem: (value: A) => string | undefined): Codec<A> =>
  new Codec<A>(
    codec.name,
    codec.is,
    (u, context) => {
      const decoded = codec.validate(u, context)
      const wrong = E.isRight(decoded) ? problem(decoded.right) : undefined
      return wrong === undefined ? decoded : refuse(u, context, 'value_error', `Value error, ${wrong}`)
    },
    codec.schema,
  )

/** `$literal`: keeps digits, which its number may have. */
export const keepingDigits = (codec: Codec<JsonObject>): Codec<JsonObject> =>
  new Codec<JsonObject>(
    codec.name,
    codec.is,
    (u, context) =>
      E.map((value: JsonObject) => withDigitsOf(u as JsonObject, value))(codec.validate(u, context)),
    codec.schema,
  )

export const filledText = ruled(string, (text) => (text === '' ? 'the text should not be empty' : undefined))

export const optionalText = withDefault(string, '')
