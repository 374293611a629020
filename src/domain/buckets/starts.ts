import type { Offset } from './zone.js'

const DAY = 86_400

/** Clocks are looked at this often to see whether they were changed in between, in seconds. */
const LOOK = 6 * 3600

/**
 * Where buckets begin that cover a range, in seconds since 1970, ascending: the first begins at or before `from`, all
 * others before `to`. A bucket begins where the clocks of the zone show a multiple of `seconds` since midnight, and where
 * they are put into another such stretch; each midnight begins one too. So a day is a day by the clock, of 23 or 25 hours
 * where clocks change, and the hour that comes twice is two buckets. Longer buckets count from 1970.
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

/** Far enough that a bucket begins there, even where clocks were changed since. */
const lookBack = (seconds: number): number => (seconds < 600 ? 4 * 3600 : seconds + 2 * DAY)

const modulo = (value: number, by: number): number => ((value % by) + by) % by

interface Part {
  readonly from: number
  readonly to: number
  readonly offset: number
}

/** The parts of a range in which clocks are not changed. */
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

/** The first second after `no` for which it holds, where it holds for `yes`. */
const firstWith = (no: number, yes: number, holds: (at: number) => boolean): number => {
  while (yes - no > 1) {
    const middle = Math.floor((no + yes) / 2)
    if (holds(middle)) yes = middle
    else no = middle
  }
  return yes
}
