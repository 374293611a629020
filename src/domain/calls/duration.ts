import { microseconds, type Instant } from '../../kernel/codec/instant.js'

/** The microseconds between a start and an end; null if the end is before the start, as wrong clocks and zones report. */
const duration = (start: Instant, end: Instant): number | null =>
  end < start ? null : Number(microseconds(end) - microseconds(start))

export const durationSeconds = (start: Instant, end: Instant): number | null => {
  const length = duration(start, end)
  return length === null ? null : length / 1e6
}

/** The same in whole milliseconds, as `summary.weave.latency_ms` has it. */
export const durationMs = (start: Instant, end: Instant): number | null => {
  const length = duration(start, end)
  return length === null ? null : Math.floor(length / 1000)
}
