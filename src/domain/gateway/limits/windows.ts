/** An entry of a window. Its weight is corrected once the usage is known. */
export interface WindowEntry {
  at: number
  readonly call: string
  weight: number
  isOver: boolean
}

/** When there is room, in milliseconds like `now`; infinity if never. */
type FreesAt = number

/**
 * A sliding window: over any interval of its length, the total weight stays within the limit. Times are in
 * milliseconds. If the clock is set back, later entries count as of now.
 */
export class SlidingWindow {
  private taken: WindowEntry[] = []
  private first = 0
  private total = 0

  constructor(private readonly lengthMs: number) {}

  used(now: number): number {
    this.forget(now)
    return this.total
  }

  /** Undefined if there is room now. */
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

  take(now: number, weight: number, call: string): WindowEntry {
    this.forget(now)
    const one = { at: now, call, weight, isOver: false }
    this.taken.push(one)
    this.total += weight
    return one
  }

  /** Corrects an entry's weight. */
  settle(one: WindowEntry, weight: number): void {
    if (!one.isOver) this.total += weight - one.weight
    one.weight = weight
  }

  /** The calls of the newest entries, newest first. */
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
