import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { gather, refuse } from '../../kernel/codec/codec.js'
import { withDefault } from '../../kernel/codec/containers.js'
import { boolean, oneOf, string } from '../../kernel/codec/leaves.js'
import { withDigitsOf } from '../../kernel/json/digits.js'
import { isJsonObject, type Json } from '../../kernel/json/json.js'
import {
  CONVERT_TO,
  MAX_EXPRESSION_DEPTH,
  USED_MODEL_SIZE,
  type Operand,
  type Operation,
} from './expression.js'
import { fieldName, fieldPath } from './field-path.js'
import { listOf, tooLarge, tupleOf, within, type DecodeAt } from './place.js'

/** Selects the decoder by the one known key of an object; ignores other keys, as the original service does. */
const formOf =
  <A>(forms: () => Readonly<Record<string, DecodeAt<unknown>>>): DecodeAt<A> =>
  (u, place) => {
    const keys = isJsonObject(u) ? Object.keys(u).filter((key) => Object.hasOwn(forms(), key)) : []
    const [key] = keys
    if (!isJsonObject(u) || key === undefined || keys.length > 1) {
      const known = Object.keys(forms()).join(', ')
      return refuse(u, place.context, 'value_error', `Value error, expected an object with one of ${known}`)
    }
    if (place.depth >= MAX_EXPRESSION_DEPTH) {
      const rule = `Expression should have at most ${MAX_EXPRESSION_DEPTH} levels of nesting`
      return refuse(u, place.context, 'recursion_depth', rule)
    }
    if (!place.takeNodes(1)) return tooLarge(u, place)
    const decoded = forms()[key]!(u[key], { ...within(place, key, u[key]), depth: place.depth + 1 })
    return E.isLeft(decoded) ? decoded : t.success(withDigitsOf(u, { [key]: decoded.right }) as A)
  }

/** Decodes an operation and drops unknown keys. */
export const decodeOperation: DecodeAt<Operation> = formOf(() => OPERATIONS)
const operand: DecodeAt<Operand> = formOf(() => OPERANDS)

/** Literals in a list have their own limit, since they cost a query very little. */
const listed: DecodeAt<Operand> = (u, place) => {
  const isLiteral = isJsonObject(u) && Object.hasOwn(u, '$literal')
  return operand(u, isLiteral ? { ...place, takeNodes: place.takeListLiterals } : place)
}

const literal: DecodeAt<Json> = (u, place) => {
  if (u === undefined) return refuse(u, place.context, 'missing', 'Field required')
  return t.success(literalValue(u as Json))
}

const field: DecodeAt<string> = (u, place) => {
  const decoded = fieldName.validate(u, place.context)
  if (E.isLeft(decoded)) return decoded
  return place.takeNodes(fieldPath(decoded.right).length) ? decoded : tooLarge(u, place)
}

const leaf =
  <A>(codec: t.Type<A, unknown, unknown>): DecodeAt<A> =>
  (u, place) =>
    codec.validate(u, place.context)

/** Decodes the named members and ignores others. */
const membersOf =
  (members: Readonly<Record<string, DecodeAt<unknown>>>): DecodeAt<unknown> =>
  (u, place) => {
    if (!isJsonObject(u))
      return refuse(u, place.context, 'model_attributes_type', 'Input should be a valid dictionary or object')
    const errors: t.ValidationError[] = []
    const decoded = Object.entries(members).map(([key, decode]): [string, unknown] => {
      const value = Object.hasOwn(u, key) ? u[key] : undefined
      const result = decode(value, within(place, key, value))
      if (E.isLeft(result)) gather(errors, result.left)
      return [key, E.isRight(result) ? result.right : undefined]
    })
    return errors.length === 0 ? t.success(Object.fromEntries(decoded)) : t.failures(errors)
  }

const required =
  <A>(decode: DecodeAt<A>): DecodeAt<A> =>
  (u, place) =>
    u === undefined ? refuse(u, place.context, 'missing', 'Field required') : decode(u, place)

const pair = tupleOf(operand, operand)
const contains = membersOf({
  input: required(operand),
  substr: required(operand),
  case_insensitive: leaf(withDefault(boolean, false, true)),
})

const ofModel = leaf(string)
const ownOfModel = tupleOf(ofModel, leaf(oneOf('own')))
const usedModel: DecodeAt<unknown> = (u, place) => {
  if (!place.takeNodes(USED_MODEL_SIZE)) return tooLarge(u, place)
  return (Array.isArray(u) ? ownOfModel : ofModel)(u, place)
}

const OPERATIONS: Readonly<Record<string, DecodeAt<unknown>>> = {
  $and: listOf(operand),
  $or: listOf(operand),
  $not: tupleOf(operand),
  $eq: pair,
  $gt: pair,
  $gte: pair,
  $lt: pair,
  $lte: pair,
  $in: tupleOf(operand, listOf(listed)),
  $contains: contains,
  $containsToken: contains,
  $usedModel: usedModel,
}

const OPERANDS: Readonly<Record<string, DecodeAt<unknown>>> = {
  $literal: literal,
  $getField: field,
  $convert: membersOf({ input: required(operand), to: required(leaf(oneOf(...CONVERT_TO))) }),
  ...OPERATIONS,
}

/** The value of a literal. Lists and objects may hold nested `{"$literal": …}`. */
const literalValue = (written: Json): Json => {
  if (Array.isArray(written)) return written.map((item) => literalValue(item as Json))
  if (!isJsonObject(written)) return written
  const [only, ...more] = Object.entries(written)
  if (only?.[0] === '$literal' && more.length === 0) return literalValue(only[1])
  return Object.fromEntries<Json>(Object.entries(written).map(([key, item]) => [key, literalValue(item)]))
}
