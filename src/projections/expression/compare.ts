import type { Parameters } from './parameters.js'
import { asMicroseconds, asNumber, asText, asTruth, isNothing, NEVER, type Value } from './value.js'
import { wholeMicroseconds, writtenInstant } from './written.js'

export type Comparison = '=' | '>' | '>=' | '<' | '<='

/**
 * A comparison as SQL, NULL where a side has no value. Sides of two kinds meet as the more particular of them: an
 * instant before a number, a number before a truth, a truth before text; JSON follows the other side, and is text
 * beside JSON.
 */
export const compare = (operator: Comparison, a: Value, b: Value, parameters: Parameters): string => {
  if (isNull(a)) return operator === '=' ? isNothing(b) : NEVER
  if (isNull(b)) return operator === '=' ? isNothing(a) : NEVER
  const [left, right] = sides(a, b, parameters)
  return `(${left} ${operator} ${right})`
}

export const isNull = (value: Value): boolean =>
  value.type === 'nothing' || (value.type === 'text' && value.literal === '')

const sides = (a: Value, b: Value, parameters: Parameters): readonly [string, string] => {
  if (a.type === 'instant') return instantSides(a.sql, b, parameters)
  if (b.type === 'instant') {
    const [right, left] = instantSides(b.sql, a, parameters)
    return [left, right]
  }
  const cast = [a.type, b.type].includes('number')
    ? asNumber
    : [a.type, b.type].includes('truth')
      ? asTruth
      : asText
  return [cast(a), cast(b)]
}

/** Beside a number an instant is seconds since 1970, beside a written date a date, beside other text ISO text. */
const instantSides = (instant: string, other: Value, parameters: Parameters): readonly [string, string] => {
  if (other.type === 'instant') return [instant, other.sql]
  if (other.type === 'number' || other.type === 'truth')
    return [asMicroseconds(instant), microsecondsOf(other, parameters)]
  if (other.type === 'text' && other.literal !== undefined) {
    const written = writtenInstant(other.literal)
    return [asMicroseconds(instant), written === undefined ? NO_NUMBER : parameters.number(written)]
  }
  return [asText({ type: 'instant', sql: instant }), asText(other)]
}

const NO_NUMBER = "CAST(NULL, 'Nullable(Float64)')"

const microsecondsOf = (value: Value, parameters: Parameters): string =>
  value.type === 'number' && value.literal !== undefined
    ? parameters.number(wholeMicroseconds(value.literal))
    : `floor(${asNumber(value)} * 1000000 + 0.5)`
