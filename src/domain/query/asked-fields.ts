import type { Operand } from './expression.js'

/** The field names in an operation, with repeats. A used model is part of usage. */
export const askedFields = (operand: Operand): readonly string[] => {
  if ('$usedModel' in operand) return [USED_MODEL_FIELD]
  if ('$literal' in operand) return []
  if ('$getField' in operand) return [operand.$getField]
  return operandsOf(operand).flatMap(askedFields)
}

/** Not a field that a query can name. */
export const USED_MODEL_FIELD = '$usedModel'

type Composed = Exclude<
  Operand,
  { readonly $literal: unknown } | { readonly $getField: string } | { readonly $usedModel: unknown }
>

const operandsOf = (operand: Composed): readonly Operand[] => {
  if ('$convert' in operand) return [operand.$convert.input]
  if ('$contains' in operand) return [operand.$contains.input, operand.$contains.substr]
  if ('$containsToken' in operand) return [operand.$containsToken.input, operand.$containsToken.substr]
  if ('$in' in operand) return [operand.$in[0], ...operand.$in[1]]
  return Object.values(operand)[0] as readonly Operand[]
}

/** The same operation with other names of its fields. */
export const withFields = <O extends Operand>(operand: O, rename: (name: string) => string): O => {
  const renamed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(renamed)
    if (typeof value !== 'object' || value === null || '$literal' in value) return value
    if ('$getField' in value) return { $getField: rename(value.$getField as string) }
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, renamed(member)]))
  }
  return renamed(operand) as O
}
