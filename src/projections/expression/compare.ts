import { InvalidQuery, shortened } from '../../domain/query/errors.js'
import type { Contains } from '../../domain/query/expression.js'
import { joined, raw, sql, typed, type Sql } from '../sql.js'
import { partAt, textsAt } from './json.js'
import {
  asExact,
  asMicroseconds,
  asNumber,
  asText,
  asTruth,
  forSome,
  isLiteral,
  isNothing,
  NEVER,
  FALSE,
  TRUE,
  type Single,
  type Value,
} from './value.js'
import {
  wholeMicroseconds,
  wholeMicrosecondsSql,
  writtenInstant,
  writtenNumber,
  writtenTruth,
} from './written.js'

export type Comparison = '=' | '>' | '>=' | '<' | '<='

/**
 * A comparison as SQL, NULL if a side has no value. Sides of different types are compared as instants if one is an
 * instant, else as numbers, else as booleans, else as text. JSON is read as the type of the other side.
 */
export const compare = (operator: Comparison, a: Value, b: Value): Sql =>
  forSome('some_a', a, (left) => forSome('some_b', b, (right) => compareOne(operator, left, right)))

const compareOne = (operator: Comparison, a: Single, b: Single): Sql => {
  if (isNull(a)) return operator === '=' ? isNothing(b) : compareWithNothing(a, b)
  if (isNull(b)) return operator === '=' ? isNothing(a) : compareWithNothing(b, a)
  const [left, right] = sides(a, b)
  const rounded = sql`(${left} ${raw(operator)} ${right})`
  if (!isExact(a) && !isExact(b)) return rounded
  if (!isShort(a)) return sql`arrayMap(a -> ${compareOne(operator, named(sql`a`, a), b)}, [${sqlOf(a)}])[1]`
  if (!isShort(b)) return sql`arrayMap(b -> ${compareOne(operator, a, named(sql`b`, b))}, [${sqlOf(b)}])[1]`
  const [exactLeft, exactRight] = [asExact(a), asExact(b)]
  return exactLeft === undefined || exactRight === undefined
    ? rounded
    : sql`if(isNull(${exactLeft}) OR isNull(${exactRight}), ${rounded}, ${exactLeft} ${raw(operator)} ${exactRight})`
}

const isExact = (value: Value): boolean => value.type === 'number' && value.exact !== undefined

/** The empty text is no value as null is, but no time that comes before or after another. */
const compareWithNothing = (nothing: Value, other: Value): Sql => {
  if (other.type === 'instant' && nothing.type === 'text') throw noTime('', other.field)
  return NEVER
}

const noTime = (literal: string | boolean, field = 'a time'): InvalidQuery =>
  new InvalidQuery(
    `${shortened(JSON.stringify(literal))} is not a time that ${shortened(field)} can be compared with: ` +
      `use an ISO 8601 date such as "2026-01-31T09:30:00Z", or a number of seconds, milliseconds, microseconds or nanoseconds since 1970`,
  )

/** Microseconds since 1970 of a literal. */
const timeIn = (literal: string, field: string | undefined): number => {
  const written = writtenInstant(literal)
  if (written === undefined) throw noTime(literal, field)
  return written
}

const isNull = (value: Value): boolean =>
  value.type === 'nothing' || (value.type === 'text' && value.literal === '')

const sides = (a: Value, b: Value): readonly [Sql, Sql] => {
  if (a.type === 'instant') return instantSides(a, b)
  if (b.type === 'instant') {
    const [right, left] = instantSides(b, a)
    return [left, right]
  }
  const cast = [a.type, b.type].includes('number')
    ? asNumber
    : [a.type, b.type].includes('truth')
      ? asTruth
      : asText
  return [cast(a), cast(b)]
}

type InstantValue = Extract<Value, { type: 'instant' }>

/**
 * An instant is compared with a number as a time since 1970, with a literal as a date, and with other text as ISO text.
 *
 * @throws InvalidQuery for a literal that is no time
 */
const instantSides = (instant: InstantValue, other: Value): readonly [Sql, Sql] => {
  const { field } = instant
  if (other.type === 'instant') return [instant.sql, other.sql]
  if (other.type === 'truth' && other.literal !== undefined) throw noTime(other.literal, field)
  if (other.type === 'number' || other.type === 'truth')
    return [asMicroseconds(instant.sql), microsecondsOf(other)]
  if (other.type === 'text' && other.literal !== undefined)
    return [asMicroseconds(instant.sql), typed('Float64', timeIn(other.literal, field))]
  return [asText(instant), asText(other)]
}

const microsecondsOf = (value: Value): Sql =>
  value.type === 'number' && value.literal !== undefined
    ? typed('Float64', wholeMicroseconds(value.literal))
    : wholeMicrosecondsSql(asNumber(value))

/** Whether a value equals one of a list. Literals of one type are compared by one `IN`, others one by one. */
export const membership = (value: Value, list: readonly Value[]): Sql =>
  forSome('some_v', value, (one) => membershipOfOne(one, list))

const membershipOfOne = (value: Single, list: readonly Value[]): Sql => {
  if (isNull(value)) return sql`(${joined([...new Set([...list.map(isNothing), FALSE])], ' OR ')})`
  if (isLiteral(value) || isShort(value) || isOneList(list)) return anyOf(value, list)
  return sql`arrayMap(v -> ${anyOf(named(sql`v`, value), list)}, [${sqlOf(value)}])[1]`
}

/** Short SQL is repeated. Long SQL is bound to a name, because nested lists would double it at every level. */
const isShort = (value: Single): boolean =>
  (value.type === 'json' ? sql`${value.base}${value.keys}${value.instead ?? sql``}` : sqlOf(value)).text
    .length <= 100

/** Literals of one type are compared at once. */
const isOneList = (list: readonly Value[]): boolean =>
  list.every((one) => isLiteral(one) && one.type === list[0]!.type && !isNull(one))

const sqlOf = (value: Single): Sql => {
  if (value.type === 'nothing') return sql``
  if (value.type === 'number') return value.exact ?? value.sql
  return value.type === 'json' ? partAt(value) : value.sql
}

const named = (name: Sql, value: Single): Single => {
  if (value.type === 'json') return { type: 'json', base: name, keys: sql``, isWide: value.isWide }
  if (value.type === 'nothing') return { type: 'json', base: name, keys: sql``, isWide: '0' }
  return value.type === 'number' && isExact(value)
    ? { ...value, sql: sql`toFloat64(${name})`, exact: name }
    : { ...value, sql: name }
}

const anyOf = (value: Value, list: readonly Value[]): Sql => {
  const parts: Sql[] = []
  const texts: string[] = []
  const numbers: number[] = []
  const exact: { readonly literal: number; readonly digits: string }[] = []
  for (const item of list) {
    if (isNull(item)) continue
    if (item.type === 'number' && item.literal !== undefined) {
      if (item.digits === undefined) numbers.push(item.literal)
      else exact.push({ literal: item.literal, digits: item.digits })
    } else if (item.type === 'text' && item.literal !== undefined) texts.push(item.literal)
    else parts.push(compare('=', value, item))
  }
  if (list.some(isNull)) parts.push(isNothing(value))
  if (texts.length > 0) parts.push(amongTexts(value, texts))
  if (numbers.length > 0) parts.push(amongNumbers(value, numbers))
  if (exact.length > 0) parts.push(amongExact(value, exact))
  return parts.length === 0 ? FALSE : sql`(${joined(parts, ' OR ')})`
}

const amongNumbers = (value: Value, numbers: readonly number[]): Sql =>
  value.type === 'instant'
    ? among(asMicroseconds(value.sql), numbers.map(wholeMicroseconds))
    : among(asNumber(value), numbers)

const amongExact = (
  value: Value,
  exact: readonly { readonly literal: number; readonly digits: string }[],
): Sql => {
  const rounded = amongNumbers(
    value,
    exact.map(({ literal }) => literal),
  )
  const whole = asExact(value)
  if (whole === undefined) return rounded
  return sql`if(isNull(${whole}), ${rounded}, toString(${whole}) IN ${exact.map((one) => one.digits)})`
}

const amongTexts = (value: Value, texts: readonly string[]): Sql => {
  switch (value.type) {
    case 'instant':
      return among(
        asMicroseconds(value.sql),
        texts.map((text) => timeIn(text, value.field)),
      )
    case 'number':
      return among(value.sql, texts.map(writtenNumber))
    case 'truth':
      return among(asNumber(value), texts.map(writtenTruth))
    default:
      return sql`${asText(value)} IN ${texts}`
  }
}

/** A comparison with text that is no number is NULL. `IN` distinguishes -0 from 0, so 0 is added to both sides. */
const among = (value: Sql, numbers: readonly (number | undefined)[]): Sql => {
  const known = numbers.filter((number) => number !== undefined)
  const found = sql`plus(${value}, 0) IN ${typed(
    'Array(Float64)',
    known.map((number) => number + 0),
  )}`
  return known.length === numbers.length ? found : sql`${found} OR ${NEVER}`
}

/**
 * Whether a text contains another, or all its tokens: runs of letters, digits and characters outside ASCII. For a list,
 * whether one of its items does. A missing value is the empty text, so the result is never NULL.
 *
 * @throws InvalidQuery for a field that is a number
 */
export const contains = (
  { input, substr }: { readonly input: Value; readonly substr: Value },
  { case_insensitive }: Pick<Contains, 'case_insensitive'>,
  token: boolean,
): Sql => {
  if (input.type === 'number' && input.field !== undefined)
    throw new InvalidQuery(
      `${shortened(input.field)} is a number, and no field to search for text: compare it with a number`,
    )
  if (isLiteral(substr) && substr.literal === '' && !token) return TRUE
  const inCase = (text: Sql) => (case_insensitive ? withoutCase(text) : text)
  const haystacks = haystacksOf(input)
  const foundIn = (sought: Sql) => {
    const found = token
      ? sql`notEmpty(tokens(${sought})) AND hasAll(tokens(${inCase(sql`h`)}), tokens(${sought}))`
      : sql`position(${inCase(sql`h`)}, ${sought}) > 0`
    return sql`arrayExists(h -> h != '' AND ${found}, ${haystacks})`
  }
  // ClickHouse would copy a literal argument of a lambda for each row.
  if (isLiteral(substr) && substr.type === 'text')
    return sql`(${joined(
      composedForms(String(substr.literal)).map((text) => foundIn(inCase(sql`${text}`))),
      ' OR ',
    )})`
  return sql`arrayExists(s -> s IS NOT NULL AND ${foundIn(inCase(sql`assumeNotNull(s)`))}, [${asText(substr)}])`
}

/**
 * Lower case in which letters are equal that differ in case alone: `lowerUTF8` keeps the final sigma apart, and the dot of the
 * Turkish capital I.
 */
const withoutCase = (text: Sql): Sql =>
  sql`replaceAll(replaceAll(lowerUTF8(${text}), 'ς', 'σ'), 'i\u0307', 'i')`

/** A text as written, and with its letters and accents as one character or as several, which look the same. */
const composedForms = (text: string): readonly string[] => [
  ...new Set([text, text.normalize('NFC'), text.normalize('NFD')]),
]

/** A list of texts that are not NULL. */
const haystacksOf = (input: Value): Sql => {
  if (input.type === 'several')
    return sql`arrayFlatten(arrayMap(some -> ${haystacksOf(input.of('some'))}, ${raw(input.list)}))`
  return input.type === 'json' ? textsAt(input) : sql`[ifNull(${asText(input)}, '')]`
}
