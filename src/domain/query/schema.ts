import type { JsonObject } from '../../kernel/json/json.js'
import { CONVERT_TO } from './expression.js'

const COMPONENTS = '#/components/schemas'
export const OPERATION_REF = `${COMPONENTS}/QueryOperation`

const operand: JsonObject = { $ref: `${COMPONENTS}/QueryOperand` }

const form = (key: string, schema: JsonObject): JsonObject => ({
  type: 'object',
  properties: { [key]: schema },
  required: [key],
})

const list = (items: JsonObject): JsonObject => ({ type: 'array', items })

const tuple = (...items: readonly JsonObject[]): JsonObject => ({
  type: 'array',
  prefixItems: items,
  minItems: items.length,
  maxItems: items.length,
})

const contains: JsonObject = {
  type: 'object',
  properties: {
    input: operand,
    substr: operand,
    case_insensitive: { anyOf: [{ type: 'boolean' }, { type: 'null' }], default: false },
  },
  required: ['input', 'substr'],
}

const convert: JsonObject = {
  type: 'object',
  properties: { input: operand, to: { type: 'string', enum: CONVERT_TO } },
  required: ['input', 'to'],
}

const usedModel: JsonObject = {
  description: 'A model that the call or one of its descendants used, or with "own" the call itself.',
  anyOf: [{ type: 'string' }, tuple({ type: 'string' }, { type: 'string', enum: ['own'] })],
}

const compared = ['$eq', '$gt', '$gte', '$lt', '$lte'].map((key) => form(key, tuple(operand, operand)))

/** The expression grammar as OpenAPI components, since it is recursive. */
export const querySchemas: JsonObject = {
  QueryOperation: {
    description: 'An operation: an object with exactly one of these keys.',
    anyOf: [
      form('$and', list(operand)),
      form('$or', list(operand)),
      form('$not', tuple(operand)),
      ...compared,
      form('$in', tuple(operand, list(operand))),
      form('$contains', contains),
      form('$containsToken', contains),
      form('$usedModel', usedModel),
    ],
  },
  QueryOperand: {
    description: 'A literal, a field as a dotted path, a conversion or an operation.',
    anyOf: [
      form('$literal', {}),
      form('$getField', { type: 'string' }),
      form('$convert', convert),
      { $ref: OPERATION_REF },
    ],
  },
}
