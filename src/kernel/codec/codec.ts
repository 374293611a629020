import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import type { JsonObject } from '../json/json.js'
import type { Problem } from './problem.js'

/**
 * An io-ts codec with a JSON Schema, so that one declaration gives type, decoder and documentation. Decoding may
 * normalise (absent to null, an instant to UTC); encoding is the identity. `W` is what a route may answer with: as `A`,
 * but optional members may be left out.
 */
export class Codec<A, W = unknown> extends t.Type<A, unknown, unknown> {
  /** Only a type. */
  declare readonly answer: W
  /**
   * Fast path: the decoded value of most valid inputs, without building an error context; undefined if `validate`
   * must decide.
   */
  readonly quick: (u: unknown) => A | undefined

  constructor(
    name: string,
    is: (u: unknown) => u is A,
    validate: t.Validate<unknown, A>,
    readonly schema: JsonSchema,
    quick: Quick<A> = 'never',
  ) {
    super(name, is, validate, (a) => a)
    this.quick = quick === 'never' ? notQuick : quick === 'unchanged' ? (u) => (is(u) ? u : undefined) : quick
  }
}

/** `unchanged`: valid input is returned as it is. */
type Quick<A> = 'never' | 'unchanged' | ((u: unknown) => A | undefined)

const notQuick = () => undefined

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a codec is invariant in A, as io-ts's own `t.Any`
export type AnyCodec = Codec<any, any>

export type JsonSchema = JsonObject

/** A validation failure. Its message has the form `<pydantic type>: <what the field should be>`. */
export const refuse = (u: unknown, context: t.Context, type: string, msg: string) =>
  t.failure<never>(u, context, `${type}: ${msg}`)

/** Limits the errors per input; a hostile input could cause millions. */
export const MAX_ERRORS = 100

/** Appends in place up to {@link MAX_ERRORS}; returns false when full. */
export const gather = (errors: t.ValidationError[], more: t.Errors): boolean => {
  for (const error of more) {
    if (errors.length >= MAX_ERRORS) return false
    errors.push(error)
  }
  return errors.length < MAX_ERRORS
}

/** A codec that returns valid input unchanged. */
export const leaf = <A>(
  name: string,
  is: (u: unknown) => u is A,
  problem: { readonly type: string; readonly msg: string },
  schema: JsonSchema,
): Codec<A, A> =>
  new Codec(
    name,
    is,
    (u, context) => (is(u) ? t.success(u) : refuse(u, context, problem.type, problem.msg)),
    schema,
    'unchanged',
  )

/** The same codec with a more detailed schema. */
export const describedAs = <A, W>(codec: Codec<A, W>, more: JsonSchema): Codec<A, W> =>
  new Codec<A, W>(codec.name, codec.is, codec.validate, { ...codec.schema, ...more }, codec.quick)

/** Decodes by another codec and derives from what that decodes. */
export const completedBy = <A, B>(codec: Codec<A>, complete: (decoded: A) => B): Codec<B> =>
  new Codec<B>(
    codec.name,
    (u): u is B => codec.is(u),
    (u, context) => E.map(complete)(codec.validate(u, context)),
    codec.schema,
  )

/** Decodes, and converts io-ts errors to problems with their location in the input. */
export const decode =
  <A>(codec: t.Type<A, unknown, unknown>) =>
  (input: unknown): E.Either<readonly Problem[], A> => {
    const result = codec.decode(input)
    return E.isRight(result) ? result : E.left(result.left.map(toProblem))
  }

const toProblem = ({ context, message }: t.ValidationError): Problem => {
  const text = message ?? 'value_error: Value error'
  const split = text.indexOf(': ')
  return {
    loc: context.slice(1).map(({ key }, depth) => (isIndex(context, depth) ? Number(key) : shortened(key))),
    type: text.slice(0, split),
    msg: text.slice(split + 2),
  }
}

const MAX_KEY = 256

/** Keys come from the client and may be of any length. */
export const shortened = (key: string): string =>
  key.length <= MAX_KEY ? key : `${key.slice(0, MAX_KEY).toWellFormed()}…`

const isIndex = (context: t.Context, depth: number): boolean => Array.isArray(context[depth]?.actual)
