import type { Operand, Operation } from '../../domain/query/expression.js'
import { fieldPath } from '../../domain/query/field-path.js'
import type { Fields } from '../expression/fields.js'
import { readableJson } from '../expression/readable-json.js'

const inputs = { kind: 'json', sql: 'readable_inputs', isWide: 'start_is_wide' } as const
const attributes = { kind: 'json', sql: 'readable_attributes', isWide: 'start_is_wide' } as const

/** Payload that a call's start alone brings, as {@link READABLE_OF_THE_START} names it. */
export const START_FIELDS: Fields = { inputs, inputs_dump: inputs, attributes, attributes_dump: attributes }

export const READABLE_OF_THE_START = `WITH ${readableJson('inputs', 'start_is_wide')} AS readable_inputs,
  ${readableJson('attributes', 'start_is_wide')} AS readable_attributes`

/** They stand in the statement a second time, which has to stay within what ClickHouse parses. */
const MAX_CONJUNCTS = 8
const MAX_LIST = 1000
const MAX_TEXT = 1000

/**
 * What an operation says of the payload of starts that few calls may be expected to meet, undefined for nothing. A start
 * is one row, so that rows can be tried by it one by one, before the rows of a call are put together.
 */
export const ofTheStart = (operation: Operation): Operation | undefined => {
  const found = conjuncts(operation).filter(isSelective).slice(0, MAX_CONJUNCTS)
  return found.length === 0 ? undefined : { $and: found }
}

const conjuncts = (operation: Operand): readonly Operand[] =>
  '$and' in operation ? operation.$and.flatMap(conjuncts) : [operation]

const isSelective = (operation: Operand): boolean => {
  if ('$eq' in operation) {
    const [a, b] = operation.$eq
    return (isOfStart(a) && isValue(b)) || (isOfStart(b) && isValue(a))
  }
  if ('$in' in operation)
    return isOfStart(operation.$in[0]) && isShort(operation.$in[1]) && operation.$in[1].every(isValue)
  if ('$contains' in operation)
    return isOfStart(operation.$contains.input) && isValue(operation.$contains.substr)
  return (
    '$containsToken' in operation &&
    isOfStart(operation.$containsToken.input) &&
    isValue(operation.$containsToken.substr)
  )
}

const isOfStart = (operand: Operand): boolean =>
  '$getField' in operand && Object.hasOwn(START_FIELDS, fieldPath(operand.$getField)[0])

const isShort = (list: readonly Operand[]): boolean => list.length <= MAX_LIST

/** Text that is not too long. Numbers and truths are shared by many calls, which are found faster where they are told. */
const isValue = (operand: Operand): boolean =>
  '$literal' in operand &&
  typeof operand.$literal === 'string' &&
  operand.$literal !== '' &&
  operand.$literal.length <= MAX_TEXT
