import { microseconds, type Instant } from '../../../kernel/codec/instant.js'
import type { CallSelection } from '../../calls/select.js'

/** The selection with its range extended by the range of the same length before. */
export const withPreviousRange = <S extends Pick<CallSelection, 'began'>>(
  query: S,
  isCompared: boolean,
): S => {
  const { began } = query
  if (began === undefined || !isCompared) return query
  return { ...query, began: { ...began, from: earlierRange(began).from } }
}

type Range = NonNullable<CallSelection['began']>

/** The range of the same length before. */
export const earlierRange = ({ from, to }: Range): Range => ({
  from: earlier(from, microseconds(to) - microseconds(from)),
  to: from,
})

const FIRST = '1900-01-01T00:00:00.000000Z' as Instant

const earlier = (instant: Instant, by: bigint): Instant => {
  const value = microseconds(instant) - by
  if (value <= microseconds(FIRST)) return FIRST
  const rest = ((value % 1_000_000n) + 1_000_000n) % 1_000_000n
  const text = new Date(Number((value - rest) / 1000n)).toISOString().slice(0, 19)
  return `${text}.${String(rest).padStart(6, '0')}Z` as Instant
}
