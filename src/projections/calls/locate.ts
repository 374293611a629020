import { microseconds, parseInstant } from '../../kernel/codec/instant.js'
import type { Operand, Pair } from '../../domain/query/expression.js'
import { fieldPath } from '../../domain/query/field-path.js'
import { callRef, REF_SCHEME } from '../../domain/refs/ref.js'
import { QUEUE_FIELD } from '../annotation-queues/visible.js'
import { raw, sql, typed, type Sql } from '../sql.js'
import { wholeMicroseconds, writtenInstant } from '../expression/written.js'
import type { CallsFilter } from './filter.js'

/** Conditions on the sorting key of `calls` that follow from a filter and an operation. The whole condition still applies. */
export interface Located {
  readonly conditions: readonly Sql[]
  /** The calls are named by id, trace, parent or annotation queue, so they are few. */
  readonly isLocated: boolean
}

/** Values are repeated in the statement, whose size is limited. */
const MAX_VALUES = 1000
const MAX_CHARACTERS = 1000

type KeyField = 'id' | 'trace_id' | 'parent_id' | typeof QUEUE_FIELD

const KEYS: Readonly<Record<KeyField, (values: readonly string[]) => Sql>> = {
  id: (values) =>
    sql`SELECT started_at, id FROM call_index WHERE project_id = {project:String} AND id IN ${values}`,
  trace_id: (values) =>
    sql`SELECT started_at, call_id FROM usage_facts WHERE project_id = {project:String} AND trace_id IN ${values}`,
  parent_id: (values) =>
    sql`SELECT started_at, id FROM calls WHERE project_id = {project:String} AND parent_id IN ${values}`,
  [QUEUE_FIELD]: (values) =>
    sql`SELECT call_started_at, call_id FROM annotation_queue_items
    WHERE project_id = {project:String} AND queue_id IN ${values}`,
}

const isFeedback = (name: string): boolean => name.startsWith('feedback.[')

const HAS_FEEDBACK = raw(`(started_at, id) IN (SELECT started_at, id FROM call_index
  WHERE project_id = {project:String} AND id IN (
    SELECT substring(assumeNotNull(weave_ref), length({project:String}) + ${callRef('', '').length + 1}) FROM feedback
    WHERE project_id = {project:String} AND startsWith(weave_ref, concat('${REF_SCHEME}', {project:String}, '/call/'))))`)

export const locate = (filter: CallsFilter | null, conjuncts: readonly Operand[]): Located => {
  const conditions: Sql[] = []
  let isLocated = false
  const among = (field: KeyField, values: readonly string[] | null | undefined) => {
    if (!values?.length) return
    isLocated = true
    conditions.push(sql`(started_at, id) IN (${KEYS[field](values)})`)
  }
  among('id', filter?.call_ids)
  among('trace_id', filter?.trace_ids)
  among('parent_id', filter?.parent_ids)
  for (const conjunct of conjuncts) {
    const equal = equalTo(conjunct)
    if (equal !== undefined) among(equal.field, equal.values)
    if (fieldsIn(conjunct).some(isFeedback) && needsValue(conjunct)) conditions.push(HAS_FEEDBACK)
  }
  return { conditions: [...conditions, ...startRange(conjuncts)], isLocated }
}

/** The bounds of the start that follow from conjuncts. */
export const startRange = (conjuncts: readonly Operand[]): readonly Sql[] =>
  conjuncts.flatMap((conjunct) =>
    startBounds(conjunct).map(
      ({ operator, at }) =>
        sql`started_at ${raw(operator)} fromUnixTimestamp64Micro(${typed('Int64', clamp(at))}, 'UTC')`,
    ),
  )

/** The operands that all must be true. */
export const conjunctsOf = (operation: Operand): readonly Operand[] =>
  '$and' in operation ? operation.$and.flatMap(conjunctsOf) : [operation]

interface Equal {
  readonly field: KeyField
  readonly values: readonly string[]
}

const equalTo = (operand: Operand): Equal | undefined => {
  if ('$in' in operand) return equalOf(operand.$in[0], operand.$in[1])
  if (!('$eq' in operand)) return undefined
  const [a, b] = operand.$eq
  return equalOf(a, [b]) ?? equalOf(b, [a])
}

/** Only text that is not empty is compared as text. */
const equalOf = (operand: Operand, list: readonly Operand[]): Equal | undefined => {
  if (!('$getField' in operand) || !Object.hasOwn(KEYS, operand.$getField)) return undefined
  if (list.length === 0 || list.length > MAX_VALUES) return undefined
  const values = list.flatMap((one) => ('$literal' in one ? [one.$literal] : []))
  const isShort = (value: unknown): value is string =>
    typeof value === 'string' && value !== '' && value.length <= MAX_CHARACTERS
  if (values.length < list.length || !values.every(isShort)) return undefined
  return { field: operand.$getField as Equal['field'], values }
}

interface Bound {
  readonly operator: '>=' | '<='
  /** Microseconds since 1970. */
  readonly at: number
}

const BOUNDS = { $gt: ['>='], $gte: ['>='], $lt: ['<='], $lte: ['<='], $eq: ['>=', '<='] } as const
const OPPOSITE = { '>=': '<=', '<=': '>=' } as const

/** The bounds that a comparison, or a negated one, sets to the start. Inclusive, because the comparison applies too. */
const startBounds = (operand: Operand, isNegated = false): readonly Bound[] => {
  if ('$not' in operand) return isNegated ? [] : startBounds(operand.$not[0], true)
  const [name, pair] = Object.entries(operand)[0] as [string, unknown]
  if (!Object.hasOwn(BOUNDS, name) || (isNegated && name === '$eq')) return []
  const [left, right] = (pair as Pair).map(startOrTime)
  const at = left === 'start' ? right : left
  if (typeof at !== 'number' || (left !== 'start' && right !== 'start')) return []
  const isFlipped = (left !== 'start') !== isNegated
  return BOUNDS[name as keyof typeof BOUNDS].map((operator) => ({
    operator: isFlipped ? OPPOSITE[operator] : operator,
    at,
  }))
}

const startOrTime = (operand: Operand): 'start' | number | undefined => {
  if ('$getField' in operand) return operand.$getField === 'started_at' ? 'start' : undefined
  if (!('$literal' in operand)) return undefined
  if (typeof operand.$literal === 'number') return wholeMicroseconds(operand.$literal)
  return typeof operand.$literal === 'string' ? writtenInstant(operand.$literal) : undefined
}

const [FIRST, LAST] = ['1900-01-01', '2299-12-31T23:59:59.999999Z'].map((text) =>
  microseconds(parseInstant(text)!),
)

const clamp = (at: number): bigint => {
  if (!Number.isFinite(at)) return at > 0 ? LAST! : FIRST!
  const whole = BigInt(Math.trunc(at))
  return whole < FIRST! ? FIRST! : whole > LAST! ? LAST! : whole
}

type Source = 'key' | 'start' | 'end'

/** Whether the row of an event alone has the values of all fields that an operation reads. */
export const isDecidedBy = (
  operand: Operand,
  source: Source,
  sourceOf: (name: string) => Source | undefined,
): boolean => fieldsIn(operand).every((name) => ['key', source].includes(sourceOf(name) ?? ''))

/** Whether a comparison is true only if its field has a value, so that calls without an end cannot be selected. */
export const needsValue = (operand: Operand): boolean => {
  if ('$in' in operand) return isValueOf(operand.$in[0], operand.$in[1])
  const [name, pair] = Object.entries(operand)[0] as [string, unknown]
  if (!Object.hasOwn(BOUNDS, name)) return false
  const [left, right] = pair as Pair
  const isEqual = name === '$eq'
  return isValueOf(left, [right], isEqual) || isValueOf(right, [left], isEqual)
}

const isValueOf = (operand: Operand, list: readonly Operand[], isEqual = true): boolean => {
  if (!('$getField' in operand)) return false
  const ofStatus = isStatus(operand.$getField)
  if (ofStatus && !isEqual) return false
  return list.every((one) => {
    if (!('$literal' in one) || one.$literal === null || one.$literal === '') return false
    // A running call has a status without an end.
    return !ofStatus || (typeof one.$literal === 'string' && one.$literal !== 'running')
  })
}

/** Whether only running calls meet a condition. */
export const requiresRunning = (operand: Operand): boolean => {
  if ('$in' in operand)
    return operand.$in[1].length > 0 && operand.$in[1].every((one) => isRunning(operand.$in[0], one))
  if (!('$eq' in operand)) return false
  const [a, b] = operand.$eq
  return isRunning(a, b) || isRunning(b, a)
}

const isRunning = (operand: Operand, value: Operand): boolean => {
  if (!('$getField' in operand) || !('$literal' in value)) return false
  if (operand.$getField === 'ended_at') return value.$literal === null || value.$literal === ''
  return isStatus(operand.$getField) && value.$literal === 'running'
}

const isStatus = (name: string): boolean => {
  const [root, weave, ...member] = fieldPath(name)
  return root.replace(/_dump$/, '') === 'summary' && weave === 'weave' && member.join('.') === 'status'
}

const fieldsIn = (value: unknown): readonly string[] => {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap(fieldsIn)
  return Object.entries(value).flatMap(([key, member]) =>
    key === '$getField' ? [member as string] : key === '$literal' ? [] : fieldsIn(member),
  )
}
