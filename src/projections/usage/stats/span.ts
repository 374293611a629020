import type { SqlParameter } from '../../../kernel/ports/clickhouse.js'
import type { CallSelection } from '../../calls/select.js'

/** Selects the calls that are counted, by a filter, an operation and a range of start times. */
export interface Span extends CallSelection {
  readonly began: NonNullable<CallSelection['began']>
  /** The starts of the buckets in seconds since 1970; the first is at or before the start of the range. */
  readonly starts: readonly number[]
}

/** The start of a selected call's bucket, in seconds as a double. */
export const BUCKET =
  'toFloat64(intDiv(roundDown(toUnixTimestamp64Micro(assumeNotNull(call_started_at)), {starts:Array(Int64)}), 1000000))'

export const startsParameter = ({ starts }: Span): Readonly<Record<'starts', SqlParameter>> => ({
  starts: starts.map((start) => BigInt(start) * 1_000_000n),
})
