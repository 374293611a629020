import type { IncomingHttpHeaders } from 'node:http'
import { parseInstant, type Instant } from '../../kernel/codec/instant.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { Failure, invalid } from '../failure.js'

export type AsOf =
  | { readonly kind: 'position'; readonly position: Position }
  | { readonly kind: 'time'; readonly time: Instant }

const HEADER = 'tallytree-as-of'
const POSITION = /^\d{1,100}$/
const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/

/** The point in history requested with `Tallytree-As-Of`; undefined for the present. */
export const asOfIn = (headers: IncomingHttpHeaders): AsOf | undefined => {
  const text = headers[HEADER]
  if (text === undefined) return undefined
  if (typeof text === 'string') {
    if (POSITION.test(text)) return { kind: 'position', position: BigInt(text) }
    const time = RFC_3339.test(text) ? parseInstant(text) : undefined
    if (time !== undefined) return { kind: 'time', time }
  }
  throw unusable(
    'Value error, input should be a log position in decimal digits, or a time as in 2026-01-31T09:30:00Z',
  )
}

/** Refuses `Tallytree-As-Of` where only the present is supported, because ignoring it would return something else. */
export const refuseAsOf = (headers: IncomingHttpHeaders): void => {
  if (headers[HEADER] !== undefined)
    throw unusable('Value error, this endpoint only reads and writes the present: omit it')
}

const unusable = (msg: string): Failure =>
  invalid([{ loc: ['header', 'Tallytree-As-Of'], type: 'value_error', msg }])

export interface History {
  readonly head: () => Promise<Position>
  /** The position of the last projected event that was recorded no later than a time. */
  readonly lastBy: (time: Instant) => Promise<Position>
  readonly now: () => Instant
}

/** Refuses the future, because the response would still change. */
export const requirePast = async (asOf: AsOf, { head, now }: History): Promise<void> => {
  if (asOf.kind === 'time') {
    if (asOf.time > now()) throw new Failure('bad-request', 'Tallytree-As-Of is in the future.')
    return
  }
  const last = await head()
  if (asOf.position > last)
    throw new Failure('bad-request', `Tallytree-As-Of is beyond the end of the log, position ${last}.`)
}
