import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import type { JsonObject } from '../json/json.js'
import type { Problem } from './problem.js'

/**
 * An io-ts codec that also describes itself as JSON Schema, so that one declaration gives type, decoding and
 * documentation. Decoding may normalise (absent to null, an instant to UTC); encoding is the identity.
 */
export class Codec<A> extends t.Type<A, unknown, unknown> {
  constructor(
    name: string,
    is: (u: unknown) => u is A,
    validate: t.Validate<unknown, A>,
    readonly schema: JsonSchema,
  ) {
    super(name, is, validate, (a) => a)
  }
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a codec is invariant in A, as io-ts's own `t.Any`
export type AnyCodec = Codec<any>

export type JsonSchema = JsonObject

/** An error of a codec of the house: the message is `<pydantic type>: <what the field should be>`. */
export const refuse = (u: unknown, context: t.Context, type: string, msg: string) =>
  t.failure<never>(u, context, `${type}: ${msg}`)

/** A codec whose accepted values pass unchanged. */
export const leaf = <A>(
  name: string,
  is: (u: unknown) => u is A,
  problem: { readonly type: string; readonly msg: string },
  schema: JsonSchema,
): Codec<A> =>
  new Codec(
    name,
    is,
    (u, context) => (is(u) ? t.success(u) : refuse(u, context, problem.type, problem.msg)),
    schema,
  )

/** Decodes, and turns io-ts errors into problems whose `loc` is the place in the input. */
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
    loc: context.slice(1).map(({ key }, depth) => (isIndex(context, depth) ? Number(key) : key)),
    type: text.slice(0, split),
    msg: text.slice(split + 2),
  }
}

const isIndex = (context: t.Context, depth: number): boolean => Array.isArray(context[depth]?.actual)
