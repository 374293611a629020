/** A map that remembers at least the `capacity` entries used last, and never more than twice as many. */
export interface RecentlyUsed<V> {
  get(key: string): V | undefined
  set(key: string, value: V): void
  clear(): void
}

/**
 * Two generations in place of a list of uses: when the young one is full it becomes the old one, and what was
 * old and not used since is forgotten.
 */
export const recentlyUsed = <V>(capacity: number): RecentlyUsed<V> => {
  let young = new Map<string, V>()
  let old = new Map<string, V>()

  const set = (key: string, value: V) => {
    if (young.size >= capacity) {
      old = young
      young = new Map()
    }
    young.set(key, value)
  }

  return {
    get: (key) => {
      const value = young.get(key)
      if (value !== undefined) return value
      const older = old.get(key)
      if (older !== undefined) set(key, older)
      return older
    },
    set,
    clear: () => {
      young = new Map()
      old = new Map()
    },
  }
}
