import { LRUCache } from 'lru-cache'

/** An LRU cache with one value per key, valid for one version only. */
export interface VersionedCache<V> {
  readonly get: (key: string, version: string) => V | undefined
  /** Replaces a value of another version. */
  readonly put: (key: string, version: string, value: V) => void
  readonly drop: (key: string) => void
}

interface Bounds<V> {
  /** Sum of the sizes of all values. */
  readonly maxSize: number
  /** Must return a positive integer. */
  readonly sizeOf?: (value: V, key: string) => number
  /** Larger values are not cached. */
  readonly maxEntrySize?: number
}

export const versionedCache = <V>({
  maxSize,
  sizeOf = () => 1,
  maxEntrySize = maxSize,
}: Bounds<V>): VersionedCache<V> => {
  const cache = new LRUCache<string, { readonly version: string; readonly value: V }>({
    maxSize,
    maxEntrySize,
    sizeCalculation: ({ value }, key) => sizeOf(value, key),
  })
  return {
    get: (key, version) => {
      const found = cache.get(key)
      return found?.version === version ? found.value : undefined
    },
    put: (key, version, value) => void cache.set(key, { version, value }),
    drop: (key) => void cache.delete(key),
  }
}
