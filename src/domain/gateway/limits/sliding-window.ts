/** An entry of a window. Its weight is corrected once the usage is known. */
export interface WindowEntry {
  readonly at: number
  weight: number
}

/**
 * Over any interval of its length, the total of the weights stays within the limit.
 * `now` is in milliseconds of a monotonic clock.
 */
export class SlidingWindow {
  private entries: WindowEntry[] = []
  /** Entries before it are over. */
  private first = 0
  private total = 0

  constructor(private readonly lengthMs: number) {}

  used(now: number): number {
    for (; this.first < this.entries.length; this.first += 1) {
      const entry = this.entries[this.first]!
      if (entry.at > now - this.lengthMs) break
      this.total -= entry.weight
      entry.weight = 0
    }
    if (this.first > 0 && this.first * 2 >= this.entries.length) {
      this.entries = this.entries.slice(this.first)
      this.first = 0
    }
    return this.total
  }

  /** When a weight fits under a limit: undefined if it does now, infinity if it never does. */
  availableAt(now: number, weight: number, limit: number): number | undefined {
    let left = this.used(now)
    if (left + weight <= limit) return undefined
    if (weight > limit) return Infinity
    for (let index = this.first; index < this.entries.length; index += 1) {
      const entry = this.entries[index]!
      left -= entry.weight
      if (left + weight <= limit) return entry.at + this.lengthMs
    }
    return Infinity
  }

  /** When all entries are over. */
  emptyAt(now: number): number {
    this.used(now)
    return (this.entries.at(-1)?.at ?? now - this.lengthMs) + this.lengthMs
  }

  take(now: number, weight: number): WindowEntry {
    this.used(now)
    const entry = { at: now, weight }
    this.entries.push(entry)
    this.total += weight
    return entry
  }

  /** Corrects the weight of an entry, unless it is over. */
  correct(now: number, entry: WindowEntry, weight: number): void {
    this.used(now)
    if (entry.at <= now - this.lengthMs) return
    this.total += weight - entry.weight
    entry.weight = weight
  }
}
