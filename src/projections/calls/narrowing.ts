import type { Operand } from '../../domain/query/expression.js'

const NARROWED = ['id', 'trace_id', 'parent_id', 'op_name'] as const

/** Values stand in the statement a second time, which has to stay within what ClickHouse parses. */
const MAX_LIST = 1000
const MAX_TEXT = 1000

/** By field, the values of which a call must have one. */
export type Narrowing = Readonly<Partial<Record<(typeof NARROWED)[number], readonly string[]>>>

/**
 * What an operation says of the fields that an index knows: no call with another value is selected, so only those with
 * one of these have to be looked at.
 */
export const narrowing = (operation: Operand): Narrowing => {
  if ('$and' in operation) return Object.assign({}, ...operation.$and.map(narrowing)) as Narrowing
  if ('$or' in operation) return ofAny(operation.$or.map(narrowing))
  if ('$eq' in operation) return ofEqual(...operation.$eq)
  if ('$in' in operation) return ofField(operation.$in[0], operation.$in[1])
  return {}
}

/** A field that every alternative narrows is narrowed to all their values. */
const ofAny = (alternatives: readonly Narrowing[]): Narrowing => {
  if (alternatives.length === 0) return {}
  const shared = NARROWED.filter((field) => alternatives.every((one) => one[field] !== undefined))
  return Object.fromEntries(
    shared.map((field) => [field, [...new Set(alternatives.flatMap((one) => one[field] ?? []))]]),
  )
}

const ofEqual = (a: Operand, b: Operand): Narrowing => ({ ...ofField(a, [b]), ...ofField(b, [a]) })

/** Only text that is there is found by equal text. */
const ofField = (operand: Operand, list: readonly Operand[]): Narrowing => {
  const field = NARROWED.find((one) => '$getField' in operand && operand.$getField === one)
  const values = list.length > MAX_LIST ? [] : list.map(textOf)
  if (field === undefined || values.length === 0 || values.includes(undefined)) return {}
  return { [field]: values as readonly string[] }
}

const textOf = (operand: Operand): string | undefined =>
  '$literal' in operand &&
  typeof operand.$literal === 'string' &&
  operand.$literal !== '' &&
  operand.$literal.length <= MAX_TEXT
    ? operand.$literal
    : undefined
