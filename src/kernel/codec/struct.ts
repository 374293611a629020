import * as t from 'io-ts'
import { withDigitsOf } from '../json/digits.js'
import { isJsonObject, type Json } from '../json/json.js'
import { Codec, gather, refuse, type AnyCodec } from './codec.js'

type Fields = Readonly<Record<string, AnyCodec>>

/** A decoded object has every key; an absent optional field is null or its default. */
type Decoded<R extends Fields, O extends Fields> = { readonly [K in keyof R]: t.TypeOf<R[K]> } & {
  readonly [K in keyof O]: t.TypeOf<O[K]>
}

/** An answer may leave out its optional fields. */
type Answered<R extends Fields, O extends Fields> = { readonly [K in keyof R]: R[K]['answer'] } & {
  readonly [K in keyof O]?: O[K]['answer']
}

interface Shape<R extends Fields, O extends Fields> {
  /** Description for the generated documentation. */
  readonly says?: string
  readonly required?: R
  /** Fields whose codecs accept `undefined`, see {@link optional}. */
  readonly optional?: O
}

const build =
  (extras: 'tolerated' | 'refused') =>
  <R extends Fields = Record<never, never>, O extends Fields = Record<never, never>>(
    name: string,
    { says, required, optional }: Shape<R, O>,
  ): Codec<Decoded<R, O>, Answered<R, O>> => {
    const mustHave = fieldsOf(required, true)
    const fields = [...mustHave, ...fieldsOf(optional, false)]
    const known = new Set(fields.map(({ key }) => key))

    const validate = (u: unknown, context: t.Context): t.Validation<Decoded<R, O>> => {
      if (!isJsonObject(u))
        return refuse(u, context, 'model_attributes_type', 'Input should be a valid dictionary or object')
      const decoded: Record<string, unknown> = {}
      const errors: t.ValidationError[] = []
      for (const { key, codec, isRequired } of fields) {
        const value = Object.hasOwn(u, key) ? u[key] : undefined
        if (value === undefined && isRequired) {
          gather(errors, missing(context, key, codec))
          continue
        }
        const quick: unknown = codec.quick(value)
        if (quick !== undefined) {
          decoded[key] = quick
          continue
        }
        const result = codec.validate(value, t.appendContext(context, key, codec, value))
        if (result._tag === 'Right') decoded[key] = result.right
        else gather(errors, result.left)
      }
      if (extras === 'refused')
        for (const key of Object.keys(u))
          if (!known.has(key) && !gather(errors, extra(context, key, u[key] as Json))) break
      return errors.length === 0 ? t.success(withDigitsOf(u, decoded) as Decoded<R, O>) : t.failures(errors)
    }

    return new Codec(name, (u): u is Decoded<R, O> => validate(u, [])._tag === 'Right', validate, {
      title: name,
      ...(says === undefined ? {} : { description: says }),
      type: 'object',
      properties: Object.fromEntries(fields.map(({ key, codec }) => [key, codec.schema])),
      ...(mustHave.length > 0 ? { required: mustHave.map(({ key }) => key) } : {}),
      ...(extras === 'refused' ? { additionalProperties: false } : {}),
    })
  }

const fieldsOf = (fields: Fields | undefined, isRequired: boolean) =>
  Object.entries(fields ?? {}).map(([key, codec]) => ({ key, codec, isRequired }))

const missing = (context: t.Context, key: string, codec: AnyCodec): t.Errors => [
  { value: undefined, context: t.appendContext(context, key, codec), message: 'missing: Field required' },
]

const extra = (context: t.Context, key: string, value: Json): t.Errors => [
  {
    value,
    context: t.appendContext(context, key, t.unknown, value),
    message: 'extra_forbidden: Extra inputs are not permitted',
  },
]

/** An object whose unknown keys are dropped, as the original service does inside `start` and `end`. */
export const open = build('tolerated')

/** An object whose unknown keys are rejected, as the original service does in request envelopes. */
export const closed = build('refused')
