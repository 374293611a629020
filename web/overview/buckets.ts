export interface TimeRange {
  readonly start: string
  readonly end: string
}

/** The part of a range that is in a bucket. */
export const bucketRange = (starts: readonly number[], at: number, { start, end }: TimeRange): TimeRange => {
  const [from, next] = [starts[at]! * 1000, (starts[at + 1] ?? Infinity) * 1000]
  return {
    start: from > Date.parse(start) ? new Date(from).toISOString() : start,
    end: next < Date.parse(end) ? new Date(next).toISOString() : end,
  }
}

/** The range of the whole buckets between two times of a chart of equal steps. */
export const draggedRange = (
  starts: readonly number[],
  from: number,
  to: number,
  range: TimeRange,
): string => {
  const step = starts.length > 1 ? (starts[1]! - starts[0]!) * 1000 : 0
  const last = starts.findLastIndex((start) => start * 1000 <= to - step)
  const first = starts.findLastIndex((start) => start * 1000 <= from)
  const { start } = bucketRange(starts, Math.max(0, first), range)
  return `${start}..${bucketRange(starts, Math.max(0, last), range).end}`
}
