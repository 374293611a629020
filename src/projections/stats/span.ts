import type { Instant } from '../../domain/codec/instant.js'
import type { SqlParameter } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import { condition, type CallsFilter, type Condition } from '../calls/filter.js'
import { dateTime64 } from '../clickhouse-values.js'

/** Which calls are counted: those a filter selects, as of a position, that began in a range of time. */
export interface Span {
  readonly projectId: string
  readonly filter: CallsFilter | null
  readonly position: Position
  readonly start: Instant
  /** Exclusive. */
  readonly end: Instant
  /** Where the buckets begin, in seconds since 1970; the first not after `start`. */
  readonly starts: readonly number[]
}

/** The calls of a span, as a condition on `calls`. */
export const inSpan = ({ projectId, filter, position, start, end }: Span): Condition => {
  const { sql, parameters } = condition(projectId, filter, position)
  return {
    sql: `${sql} AND started_at >= {start:DateTime64(6, 'UTC')} AND started_at < {end:DateTime64(6, 'UTC')}`,
    parameters: { ...parameters, start: dateTime64(start), end: dateTime64(end) },
  }
}

/** Where the bucket of a call begins, in seconds as a double. */
export const BUCKET =
  'toFloat64(intDiv(roundDown(toUnixTimestamp64Micro(assumeNotNull(started_at)), {starts:Array(Int64)}), 1000000))'

export const startsParameter = ({ starts }: Span): Readonly<Record<'starts', SqlParameter>> => ({
  starts: starts.map((start) => BigInt(start) * 1_000_000n),
})
