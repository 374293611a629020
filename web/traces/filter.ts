import type { Schemas } from '../kit/api.js'
import { rangeOf } from '../kit/range.js'

/** A condition of the filter bar: one chip. */
export interface Condition {
  readonly field: string
  readonly operator: Operator
  /** Text as typed; lists are comma-separated. */
  readonly value: string
}

export const OPERATORS = {
  equals: 'is',
  differs: 'is not',
  contains: 'contains',
  lacks: 'does not contain',
  in: 'is one of',
  above: '>',
  atLeast: '≥',
  below: '<',
  atMost: '≤',
  exists: 'has a value',
  missing: 'has no value',
} as const

export type Operator = keyof typeof OPERATORS

export const needsValue = (operator: Operator): boolean => operator !== 'exists' && operator !== 'missing'

/** Operands of the API's `$expr`. */
export type Operand = Readonly<Record<string, unknown>>

const field = (name: string): Operand => ({ $getField: name })

/** A number stays one only if its text is what JSON would write, so that `007` and long digits are text. */
const literal = (text: string): Operand => ({ $literal: isNumber(text) ? Number(text) : text })

const isNumber = (text: string): boolean => /^-?\d+(\.\d+)?$/.test(text) && String(Number(text)) === text

/** Models are no fields of calls: the model that a call or one below it used, or the call itself. */
export const MODEL = 'model'
const OWN_MODEL = 'own model'
export const isModel = (name: string): boolean => name === MODEL || name === OWN_MODEL

/** The operators that a field can be compared with. */
export const operatorsOf = (name: string): readonly Operator[] =>
  isModel(name) ? ['equals', 'differs'] : (Object.keys(OPERATORS) as Operator[])

const usedModel = ({ field: name, operator, value }: Condition): Operand => {
  const used = { $usedModel: name === MODEL ? value : [value, 'own'] }
  return operator === 'differs' ? { $not: [used] } : used
}
/** Text is compared as text, whatever it consists of. */
export const isEqual = (name: string, value: string): Operand => ({ $eq: [field(name), { $literal: value }] })

/** The condition in the API's grammar. */
export const operandOf = (condition: Condition): Operand =>
  isModel(condition.field) ? usedModel(condition) : comparison(condition)

const comparison = ({ field: name, operator, value }: Condition): Operand => {
  const pair = [field(name), literal(value)]
  const contains = { $contains: { input: field(name), substr: { $literal: value }, case_insensitive: true } }
  const isNull = { $eq: [field(name), { $literal: null }] }
  switch (operator) {
    case 'equals':
      return { $eq: pair }
    case 'differs':
      return { $not: [{ $eq: pair }] }
    case 'contains':
      return contains
    case 'lacks':
      return { $not: [contains] }
    case 'in':
      return { $in: [field(name), value.split(',').map((one) => literal(one.trim()))] }
    case 'above':
      return { $gt: pair }
    case 'atLeast':
      return { $gte: pair }
    case 'below':
      return { $not: [{ $gte: pair }] }
    case 'atMost':
      return { $not: [{ $gt: pair }] }
    case 'exists':
      return { $not: [isNull] }
    case 'missing':
      return isNull
  }
}

type Shape = readonly [operator: string, operands: unknown]

const shapeOf = (operand: unknown): Shape | undefined =>
  typeof operand === 'object' && operand !== null ? Object.entries(operand)[0] : undefined

/** The condition that an operand is, undefined for one that the filter bar cannot edit. */
export const conditionOf = (operand: unknown): Condition | undefined => {
  const [name, operands] = shapeOf(operand) ?? []
  if (name === '$not') {
    const inner = Array.isArray(operands) ? conditionOf(operands[0]) : undefined
    const operator = inner === undefined ? undefined : NEGATED[inner.operator]
    return operator === undefined ? undefined : { ...inner!, operator }
  }
  if (name === '$contains') {
    const { input, substr } = operands as { input?: unknown; substr?: unknown }
    const [of, text] = [fieldOf(input), textOf(substr)]
    return of === undefined || text === undefined
      ? undefined
      : { field: of, operator: 'contains', value: text }
  }
  if (name === '$usedModel') {
    const [model, own] = Array.isArray(operands) ? (operands as unknown[]) : [operands]
    if (typeof model !== 'string') return undefined
    return { field: own === undefined ? MODEL : OWN_MODEL, operator: 'equals', value: model }
  }
  if (!Array.isArray(operands)) return undefined
  const of = fieldOf(operands[0])
  if (of === undefined) return undefined
  if (name === '$in' && Array.isArray(operands[1])) {
    const texts = operands[1].map(textOf)
    if (texts.some((text) => text === undefined || text.includes(','))) return undefined
    return { field: of, operator: 'in', value: texts.join(', ') }
  }
  if (name === '$eq' && isNull(operands[1])) return { field: of, operator: 'missing', value: '' }
  const text = textOf(operands[1])
  const operator = COMPARING[name ?? '']
  return text === undefined || operator === undefined ? undefined : { field: of, operator, value: text }
}

const COMPARING: Readonly<Record<string, Operator>> = { $eq: 'equals', $gt: 'above', $gte: 'atLeast' }

const NEGATED: Readonly<Partial<Record<Operator, Operator>>> = {
  equals: 'differs',
  contains: 'lacks',
  missing: 'exists',
  above: 'atMost',
  atLeast: 'below',
}

const fieldOf = (operand: unknown): string | undefined => {
  const [name, value] = shapeOf(operand) ?? []
  return name === '$getField' && typeof value === 'string' ? value : undefined
}

const isNull = (operand: unknown): boolean => {
  const [name, value] = shapeOf(operand) ?? []
  return name === '$literal' && value === null
}

const textOf = (operand: unknown): string | undefined => {
  const [name, value] = shapeOf(operand) ?? []
  if (name !== '$literal' || (typeof value !== 'string' && typeof value !== 'number')) return undefined
  return String(value)
}

/** The conjuncts of the filter in an address; one alone is a list of one. */
export const conjunctsIn = (filter: string | undefined): readonly Operand[] => {
  if (filter === undefined || filter === '') return []
  try {
    const operand = JSON.parse(filter) as Operand
    const [name, operands] = shapeOf(operand) ?? []
    if (name === undefined) return []
    return name === '$and' && Array.isArray(operands) ? (operands as Operand[]) : [operand]
  } catch {
    return []
  }
}

export const filterText = (conjuncts: readonly Operand[]): string =>
  conjuncts.length === 0 ? '' : JSON.stringify(conjuncts.length === 1 ? conjuncts[0] : { $and: conjuncts })

/** What a chip says. */
export const chipText = (operand: Operand): string => {
  const condition = conditionOf(operand)
  if (condition === undefined) return JSON.stringify(operand)
  const { field: name, operator, value } = condition
  return `${FIELD_LABELS[name] ?? name} ${OPERATORS[operator]}${needsValue(operator) ? ` ${value === '' ? '(empty)' : value}` : ''}`
}

/** What every call has, by what people call it. */
export const FIELD_LABELS: Readonly<Record<string, string>> = {
  [MODEL]: 'model',
  op_name: 'op',
  'summary.weave.status': 'status',
  'summary.weave.latency_ms': 'duration in ms',
  exception: 'exception',
  end_user: 'end user',
  environment: 'environment',
  wb_user_id: 'user',
  thread_id: 'thread',
  display_name: 'name',
  trace_id: 'trace',
  [OWN_MODEL]: 'own model',
  'summary.weave.op': 'op',
  'summary.weave.error': 'error',
  'attributes.user': 'end user',
  'usage.total_tokens': 'tokens',
  'usage.total_cost': 'cost',
  'attributes.tallytree.model': 'requested model',
}

/** Text anywhere in what a call got and returned. */
const searching = (text: string): Operand => ({
  $or: ['inputs', 'output', 'exception', 'op_name', 'display_name'].map((name) => ({
    $contains: { input: field(name), substr: { $literal: text }, case_insensitive: true },
  })),
})

type Query = NonNullable<Schemas['CallsPageRequest']['query']> | null

/** The whole question of a list in the API's grammar, null if everything is wanted. */
export const queryOf = (
  { filter, q, range }: { readonly filter?: string; readonly q?: string; readonly range?: string },
  now: number,
): Query => {
  const { from, to } = rangeOf(range ?? '', now)
  const conjuncts = [
    ...conjunctsIn(filter),
    ...(q === undefined || q === '' ? [] : [searching(q)]),
    ...(from === undefined ? [] : [{ $gte: [field('started_at'), { $literal: from }] }]),
    ...(to === undefined ? [] : [{ $not: [{ $gte: [field('started_at'), { $literal: to }] }] }]),
  ]
  return conjuncts.length === 0 ? null : ({ $expr: { $and: conjuncts } } as unknown as Query)
}
