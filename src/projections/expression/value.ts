import { raw, sql, type Sql } from '../sql.js'
import type { JsonPlace } from './json.js'
import { existsAt, stringAt, textAt } from './json.js'

/**
 * A number that a Float64 may not hold: `exact` is SQL of a Nullable Int256. Absent where the Float64 decides: one of two whole
 * numbers below 2^53 in size is never rounded to the other.
 */
interface WholeNumber {
  readonly exact?: Sql
  /** Of a literal that is exact. */
  readonly digits?: string
}

/**
 * An operand in SQL. Every `sql` is Nullable, and NULL for a missing value. Text is never
 * empty, a number is a Float64, a truth a Bool or a UInt8, an instant a DateTime64(6). `field` names a field for messages.
 */
export type Single =
  | { readonly type: 'nothing' }
  | { readonly type: 'text'; readonly sql: Sql; readonly literal?: string }
  | ({
      readonly type: 'number'
      readonly sql: Sql
      readonly literal?: number
      readonly field?: string
    } & WholeNumber)
  | { readonly type: 'truth'; readonly sql: Sql; readonly literal?: boolean }
  | { readonly type: 'instant'; readonly sql: Sql; readonly field?: string }
  | ({ readonly type: 'json' } & JsonPlace)

export type Value = Single | Several

/** Several values, such as those of all feedback on a call. A condition is true if it is true for one, else false. */
export interface Several {
  readonly type: 'several'
  /** A list, of one NULL if there are none. */
  readonly list: string
  /** The value of an item. */
  readonly of: (item: string) => Single
}

/** The value that counts where one is needed. */
export const firstOf = ({ list, of }: Several): Single => of(`${list}[1]`)

/** A condition on a value, on each of several. */
export const forSome = (name: string, value: Value, condition: (one: Single) => Sql): Sql =>
  value.type === 'several'
    ? sql`arrayExists(${raw(name)} -> ifNull(${condition(value.of(name))}, false), ${raw(value.list)})`
    : condition(value)

export const asText = (value: Value): Sql => {
  switch (value.type) {
    case 'nothing':
      return sql`CAST(NULL, 'Nullable(String)')`
    case 'text':
      return value.sql
    case 'number':
      return sql`toString(${value.exact ?? value.sql})`
    case 'truth':
      return sql`toString(CAST(${value.sql}, 'Nullable(Bool)'))`
    case 'instant':
      return sql`formatDateTime(${value.sql}, '%Y-%m-%dT%H:%i:%s.%fZ')`
    case 'json':
      return textAt(value)
    case 'several':
      return asText(firstOf(value))
  }
}

/** A number, or the number that a text is; otherwise NULL. An instant is in seconds since 1970. */
export const asNumber = (value: Value): Sql => {
  switch (value.type) {
    case 'number':
      return value.sql
    case 'truth':
      return sql`toFloat64(${value.sql})`
    case 'instant':
      return sql`(${asMicroseconds(value.sql)} / 1000000)`
    case 'json':
      return parsedNumber(stringAt(value))
    case 'several':
      return asNumber(firstOf(value))
    default:
      return parsedNumber(asText(value))
  }
}

/** A whole number as Nullable Int256, undefined where the Float64 decides. */
export const asExact = (value: Value): Sql | undefined => {
  if (value.type === 'number') return value.exact
  if (value.type === 'json') return sql`toInt256OrNull(${stringAt(value)})`
  return value.type === 'text' ? sql`toInt256OrNull(ifNull(${value.sql}, ''))` : undefined
}

/** An integer of 64 bits; otherwise NULL. */
export const asInteger = (value: Value): Extract<Single, { type: 'number' }> => {
  const isCounted = value.type === 'truth' || value.type === 'instant'
  const integer = sql`toInt64OrNull(${isCounted ? sql`toString(${asNumber(value)})` : asText(value)})`
  return { type: 'number', sql: sql`toFloat64(${integer})`, exact: sql`CAST(${integer}, 'Nullable(Int256)')` }
}

/** `true` and `false`, also as text; a number is true unless it is 0. NULL for any other text. */
export const asTruth = (value: Value): Sql => {
  switch (value.type) {
    case 'truth':
      return value.sql
    case 'number':
      return sql`(${value.sql} != 0)`
    case 'instant':
      return truthy(value)
    default:
      return sql`(${parsedNumber(sql`transform(ifNull(${asText(value)}, ''), ['true', 'false'], ['1', '0'])`)} != 0)`
  }
}

/** ClickHouse also parses `nan` and `inf`, and returns infinity for numbers that are too large. */
const parsedNumber = (text: Sql): Sql => sql`ifNotFinite(toFloat64OrNull(${text}), NULL)`

/** A value as a condition: text and instants are true if they are not empty. */
export const truthy = (value: Value): Sql => {
  switch (value.type) {
    case 'nothing':
      return NEVER
    case 'text':
      return sql`notEmpty(${value.sql})`
    case 'instant':
      return sql`notEmpty(toString(${value.sql}))`
    case 'several':
      return forSome('some', value, truthy)
    case 'json':
      return sql`arrayMap(t -> ifNull(${asTruth({ type: 'text', sql: sql`t` })}, notEmpty(t)), [${asText(value)}])[1]`
    default:
      return asTruth(value)
  }
}

export const exists = (value: Value): Sql => {
  if (value.type === 'nothing') return FALSE
  if (value.type === 'several') return forSome('some', value, exists)
  return value.type === 'json' ? existsAt(value) : sql`(${value.sql} IS NOT NULL)`
}

/** Whether the value is known when the statement is written. */
export const isLiteral = (value: Value): value is Extract<Value, { literal?: unknown }> =>
  (value.type === 'text' || value.type === 'number') && value.literal !== undefined

/** Whether there is no value. The empty string is none. */
export const isNothing = (value: Value): Sql => {
  if (value.type === 'nothing') return TRUE
  if (isLiteral(value)) return value.literal === '' ? TRUE : FALSE
  return sql`(${value.type === 'json' || value.type === 'several' ? asText(value) : value.sql} IS NULL)`
}

/** NULL as a condition. */
export const NEVER = sql`CAST(NULL, 'Nullable(Bool)')`
export const TRUE = sql`true`
export const FALSE = sql`false`

export const asMicroseconds = (instant: Sql): Sql => sql`toFloat64(toUnixTimestamp64Micro(${instant}))`
