import type { Offset } from './zone.js'

const DAY = 86_400

/** Step in which offset changes are searched for, in seconds. */
const LOOK = 6 * 3600

/**
 * Bucket starts that cover a range, in seconds since 1970, ascending: the first is at or before `from`, all others
 * are before `to`. A bucket starts where the local time is a multiple of `seconds` since midnight, at each midnight,
 * and at a clock change into another bucket. So a local day has 23 or 25 hours at a clock change, and a repeated hour
 * is two buckets. Buckets longer than a day count from 1970.
 */
export const bucketStarts = (
  from: number,
  to: number,
  seconds: number,
  offset: Offset,
): readonly number[] => {
  const stretchOf = (shown: number): number => {
    if (seconds >= DAY) return shown - modulo(shown, seconds)
    const today = modulo(shown, DAY)
    return shown - (today % seconds)
  }
  const nextStretch = (stretch: number): number =>
    seconds >= DAY ? stretch + seconds : Math.min(stretch + seconds, stretch - modulo(stretch, DAY) + DAY)

  const starts: number[] = []
  let before: number | undefined
  for (const part of parts(from - lookBack(seconds), to, offset)) {
    const shown = part.from + part.offset
    let stretch = stretchOf(shown)
    if (before !== undefined && stretchOf(part.from - 1 + before) !== stretch) starts.push(part.from)
    else if (stretch === shown) starts.push(part.from)
    for (stretch = nextStretch(stretch); stretch - part.offset < part.to; stretch = nextStretch(stretch))
      starts.push(stretch - part.offset)
    before = part.offset
  }
  return starts.slice(
    Math.max(
      0,
      starts.findLastIndex((start) => start <= from),
    ),
  )
}

/** Far enough to contain a bucket start even across a clock change. */
const lookBack = (seconds: number): number => (seconds < 600 ? 4 * 3600 : seconds + 2 * DAY)

const modulo = (value: number, by: number): number => ((value % by) + by) % by

interface Part {
  readonly from: number
  readonly to: number
  readonly offset: number
}

/** Splits a range at clock changes. */
const parts = (from: number, to: number, offset: Offset): readonly Part[] => {
  const found: Part[] = []
  let begun = from
  let current = offset(from)
  for (let at = from; at < to; at += LOOK) {
    const next = Math.min(at + LOOK, to)
    const then = offset(next)
    if (then === current) continue
    const changed = firstWith(at, next, (moment) => offset(moment) !== current)
    found.push({ from: begun, to: changed, offset: current })
    begun = changed
    current = then
  }
  if (begun < to) found.push({ from: begun, to, offset: current })
  return found
}

/** Binary search for the first second after `no` at which `holds` is true; `yes` is a second at which it is. */
const firstWith = (no: number, yes: number, holds: (at: number) => boolean): number => {
  while (yes - no > 1) {
    const middle = Math.floor((no + yes) / 2)
    if (holds(middle)) yes = middle
    else no = middle
  }
  return yes
}
