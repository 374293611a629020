/**
 * A map and a set for what comes and goes all the time. A `Map` that entries are put into and taken out of moves what is
 * left into a new table now and then, and each table leads to the one behind it: once the collector has put one of them
 * among what lives long, all that was ever entered later lives as long. These begin anew instead, with a copy of what is
 * left, and leave nothing that leads to it (docs/decisions/0018).
 */

/** Fewer would cost copies, more would let more live on; measured, it does not matter between 16 and 1000. */
const REMOVED = 64

/** What is put in while it is iterated over may be met, or not. */
export class PassingMap<K, V> {
  private entriesNow = new Map<K, V>()
  private removed = 0

  get size(): number {
    return this.entriesNow.size
  }

  has(key: K): boolean {
    return this.entriesNow.has(key)
  }

  get(key: K): V | undefined {
    return this.entriesNow.get(key)
  }

  set(key: K, value: V): this {
    if (this.removed >= REMOVED + this.entriesNow.size) {
      this.entriesNow = new Map(this.entriesNow)
      this.removed = 0
    }
    this.entriesNow.set(key, value)
    return this
  }

  delete(key: K): boolean {
    const isRemoved = this.entriesNow.delete(key)
    if (isRemoved) this.removed += 1
    return isRemoved
  }

  clear(): void {
    this.entriesNow = new Map()
    this.removed = 0
  }

  keys(): IterableIterator<K> {
    return this.entriesNow.keys()
  }

  values(): IterableIterator<V> {
    return this.entriesNow.values()
  }

  [Symbol.iterator](): IterableIterator<[K, V]> {
    return this.entriesNow.entries()
  }
}

/** What is put in while it is iterated over may be met, or not. */
export class PassingSet<A> {
  private readonly members = new PassingMap<A, undefined>()

  get size(): number {
    return this.members.size
  }

  has(member: A): boolean {
    return this.members.has(member)
  }

  add(member: A): this {
    this.members.set(member, undefined)
    return this
  }

  delete(member: A): boolean {
    return this.members.delete(member)
  }

  clear(): void {
    this.members.clear()
  }

  [Symbol.iterator](): IterableIterator<A> {
    return this.members.keys()
  }
}
