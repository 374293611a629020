import { exactDigitsIn } from '../../kernel/json/digits.js'
import type { Json } from '../../kernel/json/json.js'
import { InvalidQuery } from '../../domain/query/errors.js'
import type { Convert, Operand, Operation, Pair, UsedModel } from '../../domain/query/expression.js'
import { joined, sql, typed, type Sql } from '../sql.js'
import { compare, contains, membership, type Comparison } from './compare.js'
import { fieldValue, type Fields } from './fields.js'
import {
  asInteger,
  asNumber,
  asText,
  asTruth,
  exists,
  FALSE,
  isLiteral,
  TRUE,
  truthy,
  type Single,
  type Value,
} from './value.js'

/**
 * An operation as an SQL condition in three-valued logic: a comparison without a value is NULL, and so is its negation.
 * Read it with `JSON_SETTINGS`.
 *
 * @throws UnknownField
 */
export const compileCondition = (
  operation: Operation,
  fields: Fields,
  usedModel: (used: UsedModel) => Sql = noUsedModel,
): Sql => {
  const value = (operand: Operand): Value => {
    if ('$literal' in operand) return literalValue(operand)
    if ('$getField' in operand) return fieldValue(fields, operand.$getField)
    if ('$convert' in operand) return converted(value(operand.$convert.input), operand.$convert.to)
    return { type: 'truth', sql: compileCondition(operand, fields, usedModel) }
  }
  const every = (operands: readonly Operand[], by: 'AND' | 'OR', none: Sql): Sql =>
    operands.length === 0
      ? none
      : sql`(${joined(
          operands.map((one) => truthy(value(one))),
          ` ${by} `,
        )})`
  const compared = (operator: Comparison, [left, right]: Pair): Sql =>
    compare(operator, value(left), value(right))

  if ('$and' in operation) return every(operation.$and, 'AND', TRUE)
  if ('$or' in operation) return every(operation.$or, 'OR', FALSE)
  if ('$not' in operation) return sql`(NOT ${truthy(value(operation.$not[0]))})`
  if ('$eq' in operation) return compared('=', operation.$eq)
  if ('$gt' in operation) return compared('>', operation.$gt)
  if ('$gte' in operation) return compared('>=', operation.$gte)
  if ('$lt' in operation) return compared('<', operation.$lt)
  if ('$lte' in operation) return compared('<=', operation.$lte)
  if ('$in' in operation) return membership(value(operation.$in[0]), operation.$in[1].map(value))
  if ('$usedModel' in operation) return usedModel(operation.$usedModel)
  const [spec, token] =
    '$contains' in operation ? [operation.$contains, false] : [operation.$containsToken, true]
  return contains({ input: value(spec.input), substr: value(spec.substr) }, spec, token)
}

const noUsedModel = (): never => {
  throw new InvalidQuery('$usedModel is only allowed where calls are listed, counted or summed up')
}

/** Those of an Int256. */
const MAX_DIGITS = 76

const literalValue = (operand: { readonly $literal: Json }): Value => {
  const { $literal: literal } = operand
  if (literal === null) return { type: 'nothing' }
  if (typeof literal === 'boolean') return { type: 'truth', literal, sql: literal ? TRUE : FALSE }
  if (typeof literal === 'number') {
    const digits = exactDigitsIn(operand, '$literal')
    return {
      type: 'number',
      literal,
      sql: typed('Float64', literal),
      ...(digits === undefined || digits.length > MAX_DIGITS
        ? {}
        : { digits: BigInt(digits).toString(), exact: sql`toInt256(${digits})` }),
    }
  }
  const text = typeof literal === 'string' ? literal : JSON.stringify(literal)
  return { type: 'text', literal: text, sql: sql`nullIf(${text}, '')` }
}

/** The type of literals that a conversion leaves as they are. */
const LITERAL_OF: Partial<Record<Convert['to'], Value['type']>> = { double: 'number', string: 'text' }

const converted = (input: Value, to: Convert['to']): Value =>
  input.type === 'several'
    ? { ...input, of: (item) => convertedOne(input.of(item), to) }
    : convertedOne(input, to)

const convertedOne = (input: Single, to: Convert['to']): Single => {
  if (isLiteral(input) && input.literal !== '' && input.type === LITERAL_OF[to]) return input
  switch (to) {
    case 'double':
      return { type: 'number', sql: asNumber(input) }
    case 'int':
      return asInteger(input)
    case 'string':
      return { type: 'text', sql: asText(input) }
    case 'bool':
      return { type: 'truth', sql: asTruth(input) }
    case 'exists':
      return { type: 'truth', sql: exists(input) }
  }
}
