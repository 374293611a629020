import { Failure } from '../../application/failure.js'
import { forgetDigits, rememberDigits } from '../../kernel/json/digits.js'
import type { Json } from '../../kernel/json/json.js'
import { MAX_DEPTH } from '../../kernel/json/measure.js'

/** The body is not an `ExportTraceServiceRequest`. */
export class NotARequest extends Error {
  override readonly name = 'NotARequest'
}

/** A span that is refused without the others of its request. */
export class UnreadableSpan extends Error {
  override readonly name = 'UnreadableSpan'
}

export type Count = () => void

/** An empty span takes two bytes in a request and hundreds in memory. */
export const MOST_SPANS = 100_000

/**
 * Counts elements of a request.
 *
 * @throws Failure when there are more
 */
export const countTo = (most: number, elements: string): Count => {
  let count = 0
  return () => {
    if ((count += 1) > most)
      throw new Failure(
        'too-large',
        `The request has more than ${most} ${elements}. Send fewer spans at once.`,
      )
  }
}

/** Attributes, events and links of a span, with the attributes of these and the members of values. */
const MOST_PARTS = 32_768

/**
 * Counts the parts of a span.
 *
 * @throws UnreadableSpan when there are more than {@link MOST_PARTS}: reading them does not yield to the event loop
 */
export const countParts = (): Count => {
  let count = 0
  return () => {
    if ((count += 1) > MOST_PARTS)
      throw new UnreadableSpan(`it has more than ${MOST_PARTS} attributes, events and links`)
  }
}

/** Levels of an attribute, which is some levels down in the record of its call. */
export const DEEPEST = MAX_DEPTH - 8

export const TOO_DEEP = `an attribute is nested deeper than ${DEEPEST} levels`

export const LOG_RECORD = 'it looks like a log record of OTLP, whose path is /v1/logs'

type Container = Record<string | number, Json>

/** By assignment, `__proto__` would not become a member. */
export const setMember = (into: object, key: string | number, value: Json): void => {
  forgetDigits(into, key)
  if (key !== '__proto__') (into as Container)[key] = value
  else Object.defineProperty(into, key, { value, enumerable: true, writable: true, configurable: true })
}

/** With the digits that a double does not hold. */
export const setWhole = (into: object, key: string | number, whole: bigint): void => {
  const value = Number(whole)
  setMember(into, key, value)
  if (!Number.isSafeInteger(value)) rememberDigits(into, key, String(whole))
}

/** Keeps a double with a whole value distinct from the same integer. */
export const setDouble = (into: object, key: string | number, value: number): void => {
  setMember(into, key, Number.isFinite(value) ? value : String(value))
  if (Number.isSafeInteger(value)) rememberDigits(into, key, `${Object.is(value, -0) ? '-0' : value}.0`)
}
