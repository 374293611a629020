import * as t from 'io-ts'
import { Codec, refuse } from '../../kernel/codec/codec.js'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { boolean, string, wholeNumber } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { textUpToBytes } from '../../kernel/codec/text.js'
import { isOpRef, parseRef } from '../../domain/refs/ref.js'
import { invalid } from '../../application/failure.js'
import { integerInQuery } from '../server/integer-in-query.js'

const MAX_REF_BYTES = 8192
/** Names an evaluation or a model: usually a reference, but any text is accepted. */
export const refText = textUpToBytes(MAX_REF_BYTES)

const RULE = "String should be a reference of the form 'weave:///entity/project/object/name:version'"

const refCodec = (name: string, rule: string, mayBeOp: boolean): Codec<string> => {
  const isAllowed = (u: unknown): u is string =>
    refText.is(u) && parseRef(u)?.kind === 'object' && (mayBeOp || !isOpRef(u))
  return new Codec(
    name,
    isAllowed,
    (u, c) => {
      if (!refText.is(u)) return refText.validate(u, c)
      return isAllowed(u) ? t.success(u) : refuse(u, c, 'string_pattern_mismatch', rule)
    },
    { type: 'string', description: rule, maxLength: MAX_REF_BYTES },
    'unchanged',
  )
}

/** A reference to a version of an object that is no op. */
export const objectRef = refCodec('object_ref', RULE, false)

/** A reference to a version of an object or an op: the SDKs accept functions as models and scorers. */
export const objectOrOpRef = refCodec(
  'object_or_op_ref',
  `${RULE}, or 'weave:///entity/project/op/name:version'`,
  true,
)

const strings = arrayOf(string, 1)

/** A list in a query: the parameter is repeated for each item. */
export const listInQuery: Codec<readonly string[]> = new Codec(
  strings.name,
  strings.is,
  (u, context) => strings.validate(typeof u === 'string' ? [u] : u, context),
  strings.schema,
)

const MAX_VALUES = 1000

export const requireFew = (values: readonly unknown[], loc: readonly string[]): void => {
  if (values.length > MAX_VALUES)
    throw invalid([{ loc, type: 'too_long', msg: `List should have at most ${MAX_VALUES} items` }])
}

const inQuery = nullable(integerInQuery(0, 999_999_999))

export const page = { limit: inQuery, offset: inQuery }

export const success = open('EvaluationWriteResponse', { required: { success: boolean } })

export const deleted = open('EvaluationDeleteResponse', { required: { num_deleted: wholeNumber } })
