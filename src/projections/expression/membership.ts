import { compare, isNull } from './compare.js'
import { partAt } from './json.js'
import type { Parameters } from './parameters.js'
import { asMicroseconds, asNumber, asText, isLiteral, isNothing, NEVER, type Value } from './value.js'
import { wholeMicroseconds, writtenInstant, writtenNumber, writtenTruth } from './written.js'

/** Whether a value equals one of a list: literals of one kind are looked up at once, others compared one by one. */
export const membership = (value: Value, list: readonly Value[], parameters: Parameters): string => {
  if (isNull(value)) return `(${[...new Set([...list.map(isNothing), 'false'])].join(' OR ')})`
  if (isLiteral(value) || isShort(value)) return anyOf(value, list, parameters)
  return `arrayMap(v -> ${anyOf(named('v', value), list, parameters)}, [${sqlOf(value)}])[1]`
}

/** Short SQL is written as often as it is needed; other SQL once, or nested lists would double it at every level. */
const isShort = (value: Value): boolean =>
  (value.type === 'json' ? value.base + value.keys : sqlOf(value)).length <= 100

const sqlOf = (value: Value): string => {
  if (value.type === 'nothing') return ''
  return value.type === 'json' ? partAt(value) : value.sql
}

const named = (name: string, value: Value): Value =>
  value.type === 'json'
    ? { ...value, base: name, keys: '' }
    : value.type === 'nothing'
      ? { type: 'json', base: name, keys: '', isWide: '0' }
      : { type: value.type, sql: name }

const anyOf = (value: Value, list: readonly Value[], parameters: Parameters): string => {
  const parts: string[] = []
  const texts: string[] = []
  const numbers: number[] = []
  for (const item of list) {
    if (isNull(item)) continue
    if (item.type === 'number' && item.literal !== undefined) numbers.push(item.literal)
    else if (item.type === 'text' && item.literal !== undefined) texts.push(item.literal)
    else parts.push(compare('=', value, item, parameters))
  }
  if (list.some(isNull)) parts.push(isNothing(value))
  if (texts.length > 0) parts.push(amongTexts(value, texts, parameters))
  if (numbers.length > 0) parts.push(amongNumbers(value, numbers, parameters))
  return parts.length === 0 ? 'false' : `(${parts.join(' OR ')})`
}

const amongNumbers = (value: Value, numbers: readonly number[], parameters: Parameters): string =>
  value.type === 'instant'
    ? among(asMicroseconds(value.sql), numbers.map(wholeMicroseconds), parameters)
    : among(asNumber(value), numbers, parameters)

const amongTexts = (value: Value, texts: readonly string[], parameters: Parameters): string => {
  switch (value.type) {
    case 'instant':
      return among(asMicroseconds(value.sql), texts.map(writtenInstant), parameters)
    case 'number':
      return among(value.sql, texts.map(writtenNumber), parameters)
    case 'truth':
      return among(asNumber(value), texts.map(writtenTruth), parameters)
    default:
      return `${asText(value)} IN ${parameters.texts(texts)}`
  }
}

/** A comparison with what is no number is neither true nor false. A list of ClickHouse does not take -0 for 0, a sum does. */
const among = (sql: string, numbers: readonly (number | undefined)[], parameters: Parameters): string => {
  const known = numbers.filter((number) => number !== undefined)
  const found = `plus(${sql}, 0) IN ${parameters.numbers(known.map((number) => number + 0))}`
  return known.length === numbers.length ? found : `${found} OR ${NEVER}`
}
