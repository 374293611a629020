import { InvalidQuery, shortened } from '../../domain/query/errors.js'
import type { Contains } from '../../domain/query/expression.js'
import { partAt, textsAt } from './json.js'
import type { Parameters } from './parameters.js'
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
export const compare = (operator: Comparison, a: Value, b: Value, parameters: Parameters): string =>
  forSome('some_a', a, (left) =>
    forSome('some_b', b, (right) => compareOne(operator, left, right, parameters)),
  )

const compareOne = (operator: Comparison, a: Single, b: Single, parameters: Parameters): string => {
  if (isNull(a)) return operator === '=' ? isNothing(b) : compareWithNothing(a, b)
  if (isNull(b)) return operator === '=' ? isNothing(a) : compareWithNothing(b, a)
  const [left, right] = sides(a, b, parameters)
  const rounded = `(${left} ${operator} ${right})`
  if (!isExact(a) && !isExact(b)) return rounded
  if (!isShort(a))
    return `arrayMap(a -> ${compareOne(operator, named('a', a), b, parameters)}, [${sqlOf(a)}])[1]`
  if (!isShort(b))
    return `arrayMap(b -> ${compareOne(operator, a, named('b', b), parameters)}, [${sqlOf(b)}])[1]`
  const [exactLeft, exactRight] = [asExact(a), asExact(b)]
  return exactLeft === undefined || exactRight === undefined
    ? rounded
    : `if(isNull(${exactLeft}) OR isNull(${exactRight}), ${rounded}, ${exactLeft} ${operator} ${exactRight})`
}

const isExact = (value: Value): boolean => value.type === 'number' && value.exact !== undefined

/** The empty text is no value as null is, but no time that comes before or after another. */
const compareWithNothing = (nothing: Value, other: Value): string => {
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

const sides = (a: Value, b: Value, parameters: Parameters): readonly [string, string] => {
  if (a.type === 'instant') return instantSides(a, b, parameters)
  if (b.type === 'instant') {
    const [right, left] = instantSides(b, a, parameters)
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
const instantSides = (
  instant: InstantValue,
  other: Value,
  parameters: Parameters,
): readonly [string, string] => {
  const { sql, field } = instant
  if (other.type === 'instant') return [sql, other.sql]
  if (other.type === 'truth' && other.literal !== undefined) throw noTime(other.literal, field)
  if (other.type === 'number' || other.type === 'truth')
    return [asMicroseconds(sql), microsecondsOf(other, parameters)]
  if (other.type === 'text' && other.literal !== undefined)
    return [asMicroseconds(sql), parameters.number(timeIn(other.literal, field))]
  return [asText(instant), asText(other)]
}

const microsecondsOf = (value: Value, parameters: Parameters): string =>
  value.type === 'number' && value.literal !== undefined
    ? parameters.number(wholeMicroseconds(value.literal))
    : wholeMicrosecondsSql(asNumber(value))

/** Whether a value equals one of a list. Literals of one type are compared by one `IN`, others one by one. */
export const membership = (value: Value, list: readonly Value[], parameters: Parameters): string =>
  forSome('some_v', value, (one) => membershipOfOne(one, list, parameters))

const membershipOfOne = (value: Single, list: readonly Value[], parameters: Parameters): string => {
  if (isNull(value)) return `(${[...new Set([...list.map(isNothing), 'false'])].join(' OR ')})`
  if (isLiteral(value) || isShort(value) || isOneList(list)) return anyOf(value, list, parameters)
  return `arrayMap(v -> ${anyOf(named('v', value), list, parameters)}, [${sqlOf(value)}])[1]`
}

/** Short SQL is repeated. Long SQL is bound to a name, because nested lists would double it at every level. */
const isShort = (value: Single): boolean =>
  (value.type === 'json' ? `${value.base}${value.keys}${value.instead ?? ''}` : sqlOf(value)).length <= 100

/** Literals of one type are compared at once. */
const isOneList = (list: readonly Value[]): boolean =>
  list.every((one) => isLiteral(one) && one.type === list[0]!.type && !isNull(one))

const sqlOf = (value: Single): string => {
  if (value.type === 'nothing') return ''
  if (value.type === 'number') return value.exact ?? value.sql
  return value.type === 'json' ? partAt(value) : value.sql
}

const named = (name: string, value: Single): Single => {
  if (value.type === 'json') return { type: 'json', base: name, keys: '', isWide: value.isWide }
  if (value.type === 'nothing') return { type: 'json', base: name, keys: '', isWide: '0' }
  return value.type === 'number' && isExact(value)
    ? { ...value, sql: `toFloat64(${name})`, exact: name }
    : { ...value, sql: name }
}

const anyOf = (value: Value, list: readonly Value[], parameters: Parameters): string => {
  const parts: string[] = []
  const texts: string[] = []
  const numbers: number[] = []
  const exact: { readonly literal: number; readonly digits: string }[] = []
  for (const item of list) {
    if (isNull(item)) continue
    if (item.type === 'number' && item.literal !== undefined) {
      if (item.digits === undefined) numbers.push(item.literal)
      else exact.push({ literal: item.literal, digits: item.digits })
    } else if (item.type === 'text' && item.literal !== undefined) texts.push(item.literal)
    else parts.push(compare('=', value, item, parameters))
  }
  if (list.some(isNull)) parts.push(isNothing(value))
  if (texts.length > 0) parts.push(amongTexts(value, texts, parameters))
  if (numbers.length > 0) parts.push(amongNumbers(value, numbers, parameters))
  if (exact.length > 0) parts.push(amongExact(value, exact, parameters))
  return parts.length === 0 ? 'false' : `(${parts.join(' OR ')})`
}

const amongNumbers = (value: Value, numbers: readonly number[], parameters: Parameters): string =>
  value.type === 'instant'
    ? among(asMicroseconds(value.sql), numbers.map(wholeMicroseconds), parameters)
    : among(asNumber(value), numbers, parameters)

const amongExact = (
  value: Value,
  exact: readonly { readonly literal: number; readonly digits: string }[],
  parameters: Parameters,
): string => {
  const rounded = amongNumbers(
    value,
    exact.map(({ literal }) => literal),
    parameters,
  )
  const whole = asExact(value)
  if (whole === undefined) return rounded
  const digits = parameters.texts(exact.map((one) => one.digits))
  return `if(isNull(${whole}), ${rounded}, toString(${whole}) IN ${digits})`
}

const amongTexts = (value: Value, texts: readonly string[], parameters: Parameters): string => {
  switch (value.type) {
    case 'instant':
      return among(
        asMicroseconds(value.sql),
        texts.map((text) => timeIn(text, value.field)),
        parameters,
      )
    case 'number':
      return among(value.sql, texts.map(writtenNumber), parameters)
    case 'truth':
      return among(asNumber(value), texts.map(writtenTruth), parameters)
    default:
      return `${asText(value)} IN ${parameters.texts(texts)}`
  }
}

/** A comparison with text that is no number is NULL. `IN` distinguishes -0 from 0, so 0 is added to both sides. */
const among = (sql: string, numbers: readonly (number | undefined)[], parameters: Parameters): string => {
  const known = numbers.filter((number) => number !== undefined)
  const found = `plus(${sql}, 0) IN ${parameters.numbers(known.map((number) => number + 0))}`
  return known.length === numbers.length ? found : `${found} OR ${NEVER}`
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
  parameters: Parameters,
): string => {
  if (input.type === 'number' && input.field !== undefined)
    throw new InvalidQuery(
      `${shortened(input.field)} is a number, and no field to search for text: compare it with a number`,
    )
  if (isLiteral(substr) && substr.literal === '' && !token) return 'true'
  const inCase = (sql: string) => (case_insensitive ? withoutCase(sql) : sql)
  const haystacks = haystacksOf(input)
  const foundIn = (sought: string) => {
    const found = token
      ? `notEmpty(tokens(${sought})) AND hasAll(tokens(${inCase('h')}), tokens(${sought}))`
      : `position(${inCase('h')}, ${sought}) > 0`
    return `arrayExists(h -> h != '' AND ${found}, ${haystacks})`
  }
  // ClickHouse would copy a literal argument of a lambda for each row.
  if (isLiteral(substr) && substr.type === 'text')
    return `(${composedForms(String(substr.literal))
      .map((text) => foundIn(inCase(parameters.text(text))))
      .join(' OR ')})`
  return `arrayExists(s -> s IS NOT NULL AND ${foundIn(inCase('assumeNotNull(s)'))}, [${asText(substr)}])`
}

/**
 * Lower case in which letters are equal that differ in case alone: `lowerUTF8` keeps the final sigma apart, and the dot of the
 * Turkish capital I.
 */
const withoutCase = (sql: string): string =>
  `replaceAll(replaceAll(lowerUTF8(${sql}), 'ς', 'σ'), 'i\u0307', 'i')`

/** A text as written, and with its letters and accents as one character or as several, which look the same. */
const composedForms = (text: string): readonly string[] => [
  ...new Set([text, text.normalize('NFC'), text.normalize('NFD')]),
]

/** A list of texts that are not NULL. */
const haystacksOf = (input: Value): string => {
  if (input.type === 'several')
    return `arrayFlatten(arrayMap(some -> ${haystacksOf(input.of('some'))}, ${input.list}))`
  return input.type === 'json' ? textsAt(input) : `[ifNull(${asText(input)}, '')]`
}
