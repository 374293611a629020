import type { SqlParameter } from '../../domain/ports/clickhouse.js'
import type { CallSelection } from '../calls/select.js'

/** Which calls are counted: those that a filter and an operation select, as of a position, that began in a range of time. */
export interface Span extends CallSelection {
  readonly began: NonNullable<CallSelection['began']>
  /** Where the buckets begin, in seconds since 1970; the first no later than the range begins. */
  readonly starts: readonly number[]
}

/** Where the bucket of a selected call begins, in seconds as a double. */
export const BUCKET =
  'toFloat64(intDiv(roundDown(toUnixTimestamp64Micro(assumeNotNull(call_started_at)), {starts:Array(Int64)}), 1000000))'

export const startsParameter = ({ starts }: Span): Readonly<Record<'starts', SqlParameter>> => ({
  starts: starts.map((start) => BigInt(start) * 1_000_000n),
})
