/** What was taken of a window; its weight may turn out to be another. */
export interface Taken {
  at: number
  readonly call: string
  weight: number
  isOver: boolean
}

/** When as much as is asked for would be free, in milliseconds as `now`; infinity for more than there ever is. */
type FreesAt = number

/**
 * What was taken in the last minute, or whatever its length is: in no such stretch of time is more taken than its limit
 * was. Times are milliseconds; where the clock is set back, all that was taken later counts as taken now.
 */
export class SlidingWindow {
  private taken: Taken[] = []
  private first = 0
  private total = 0

  constructor(private readonly lengthMs: number) {}

  used(now: number): number {
    this.forget(now)
    return this.total
  }

  /** Undefined where there is room now. */
  freesAt(now: number, weight: number, most: number): FreesAt | undefined {
    if (this.used(now) + weight <= most) return undefined
    if (weight > most) return Infinity
    let left = this.total
    for (let at = this.first; at < this.taken.length; at += 1) {
      const one = this.taken[at]!
      left -= one.weight
      if (left + weight <= most) return one.at + this.lengthMs
    }
    return Infinity
  }

  take(now: number, weight: number, call: string): Taken {
    this.forget(now)
    const one = { at: now, call, weight, isOver: false }
    this.taken.push(one)
    this.total += weight
    return one
  }

  /** What was taken weighs this, after all. */
  settle(one: Taken, weight: number): void {
    if (!one.isOver) this.total += weight - one.weight
    one.weight = weight
  }

  /** The calls that took something of it last, the newest first. */
  lastCalls(most: number): readonly string[] {
    return this.taken
      .slice(Math.max(this.first, this.taken.length - most))
      .reverse()
      .map(({ call }) => call)
  }

  private forget(now: number): void {
    if ((this.taken.at(-1)?.at ?? now) > now) for (const one of this.taken) one.at = Math.min(one.at, now)
    for (; this.first < this.taken.length; this.first += 1) {
      const one = this.taken[this.first]!
      if (one.at > now - this.lengthMs) break
      one.isOver = true
      this.total -= one.weight
    }
    if (this.first === 0 || this.first * 2 < this.taken.length) return
    this.taken = this.taken.slice(this.first)
    this.first = 0
  }
}
