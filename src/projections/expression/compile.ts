import { exactDigitsIn } from '../../kernel/json/digits.js'
import type { Json } from '../../kernel/json/json.js'
import type { SqlParameter } from '../../kernel/ports/clickhouse.js'
import type { Convert, Operand, Operation, Pair } from '../../domain/query/expression.js'
import { compare, contains, membership, type Comparison } from './compare.js'
import { fieldValue, type Fields } from './fields.js'
import { newParameters, type Parameters } from './parameters.js'
import {
  asInteger,
  asNumber,
  asText,
  asTruth,
  exists,
  isLiteral,
  truthy,
  type Single,
  type Value,
} from './value.js'

export interface Compiled {
  readonly sql: string
  readonly parameters: Readonly<Record<string, SqlParameter>>
}

/**
 * An operation as an SQL condition in three-valued logic: a comparison without a value is NULL, and so is its negation.
 * Text of the client is only in the parameters, whose names begin with the prefix. Read it with `JSON_SETTINGS`.
 *
 * @throws UnknownField
 */
export const compileCondition = (operation: Operation, fields: Fields, prefix = 'x'): Compiled => {
  const parameters = newParameters(prefix)
  const sql = compiler(fields, parameters).condition(operation)
  return { sql, parameters: parameters.all() }
}

const compiler = (fields: Fields, parameters: Parameters) => {
  const value = (operand: Operand): Value => {
    if ('$literal' in operand) return literalValue(operand, parameters)
    if ('$getField' in operand) return fieldValue(fields, operand.$getField, parameters)
    if ('$convert' in operand) return converted(value(operand.$convert.input), operand.$convert.to)
    return { type: 'truth', sql: condition(operand) }
  }

  const condition = (operation: Operation): string => {
    if ('$and' in operation) return joined(operation.$and, 'AND', 'true')
    if ('$or' in operation) return joined(operation.$or, 'OR', 'false')
    if ('$not' in operation) return `(NOT ${truthy(value(operation.$not[0]))})`
    if ('$eq' in operation) return compared('=', operation.$eq)
    if ('$gt' in operation) return compared('>', operation.$gt)
    if ('$gte' in operation) return compared('>=', operation.$gte)
    if ('$lt' in operation) return compared('<', operation.$lt)
    if ('$lte' in operation) return compared('<=', operation.$lte)
    if ('$in' in operation)
      return membership(value(operation.$in[0]), operation.$in[1].map(value), parameters)
    const [spec, token] =
      '$contains' in operation ? [operation.$contains, false] : [operation.$containsToken, true]
    return contains({ input: value(spec.input), substr: value(spec.substr) }, spec, token, parameters)
  }

  const joined = (operands: readonly Operand[], by: 'AND' | 'OR', none: string): string =>
    operands.length === 0 ? none : `(${operands.map((one) => truthy(value(one))).join(` ${by} `)})`

  const compared = (operator: Comparison, [left, right]: Pair): string =>
    compare(operator, value(left), value(right), parameters)

  return { condition }
}

/** Those of an Int256. */
const MAX_DIGITS = 76

/** A literal becomes a parameter when its SQL is read, because a list of literals is one parameter. */
const literalValue = (operand: { readonly $literal: Json }, parameters: Parameters): Value => {
  const { $literal: literal } = operand
  if (literal === null) return { type: 'nothing' }
  if (typeof literal === 'boolean') return { type: 'truth', literal, sql: String(literal) }
  if (typeof literal === 'number') {
    const digits = exactDigitsIn(operand, '$literal')
    return {
      type: 'number',
      literal,
      ...(digits === undefined || digits.length > MAX_DIGITS
        ? {}
        : { digits: BigInt(digits).toString(), exact: `toInt256(${parameters.text(digits)})` }),
      get sql() {
        return parameters.number(literal)
      },
    }
  }
  const text = typeof literal === 'string' ? literal : JSON.stringify(literal)
  return {
    type: 'text',
    literal: text,
    get sql() {
      return `nullIf(${parameters.text(text)}, '')`
    },
  }
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
