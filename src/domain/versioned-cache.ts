/** Values that were made not long ago, each good for one version of what it was made from. */
export interface VersionedCache<V> {
  readonly get: (key: string, version: string) => V | undefined
  /** A newer version takes the place of an older one. */
  readonly put: (key: string, version: string, value: V) => void
  readonly drop: (key: string) => void
}

interface Bounds<V> {
  /** What all that is kept may weigh together. */
  readonly most: number
  readonly weightOf: (value: V, key: string) => number
  readonly isWorthKeeping: (value: V, weight: number) => boolean
}

interface Kept<V> {
  readonly version: string
  readonly value: V
  readonly weight: number
}

/** The least recently asked for goes first. */
export const versionedCache = <V>({ most, weightOf, isWorthKeeping }: Bounds<V>): VersionedCache<V> => {
  const kept = new Map<string, Kept<V>>()
  let total = 0

  const drop = (key: string): void => {
    total -= kept.get(key)?.weight ?? 0
    kept.delete(key)
  }

  return {
    get: (key, version) => {
      const found = kept.get(key)
      if (found?.version !== version) return undefined
      kept.delete(key)
      kept.set(key, found)
      return found.value
    },
    put: (key, version, value) => {
      drop(key)
      const weight = weightOf(value, key)
      if (weight > most || !isWorthKeeping(value, weight)) return
      kept.set(key, { version, value, weight })
      total += weight
      for (const oldest of kept.keys()) {
        if (total <= most) return
        drop(oldest)
      }
    },
    drop,
  }
}
