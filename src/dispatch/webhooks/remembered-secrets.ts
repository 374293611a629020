import { LRUCache } from 'lru-cache'
import type { SecretName, SecretStore } from '../../kernel/ports/secret-store.js'
import { secretMatcher, type SecretMatcher } from '../../domain/secrets/redact-secrets.js'
import type { LiveSecret } from './secret-versions.js'

/** All versions of a secret that are not destroyed. */
export interface SecretRead {
  readonly values: ReadonlyMap<number, string>
  readonly matcher: SecretMatcher
}

interface CachedSecret {
  readonly first: number
  readonly last: number
  readonly read: Promise<SecretRead>
}

/** Estimated bytes of all together. */
const MAX_BYTES = 100_000_000
/** What a version takes for its matcher, about, however short it is. */
const LEAST_WEIGHT = 8000

/** Reads secrets that were not needed lately; of those that were rotated since, the new versions alone. */
export const rememberedSecrets = (
  store: Pick<SecretStore, 'get'>,
): ((secret: SecretName, live: LiveSecret) => Promise<SecretRead>) => {
  const cache = new LRUCache<string, CachedSecret>({ maxSize: MAX_BYTES })

  const readOn = async (
    secret: SecretName,
    before: Promise<SecretRead> | undefined,
    from: number,
    last: number,
  ): Promise<SecretRead> => {
    const values = new Map((await before)?.values)
    for (let version = from; version <= last; version += 1) {
      const value = await store.get({ ...secret, version })
      if (value !== undefined) values.set(version, value)
    }
    return { values, matcher: secretMatcher([...values.values()]) }
  }

  return (secret, { first, newest }) => {
    const key = `${secret.team}/${secret.name}`
    const last = newest.at(-1)?.version ?? first
    const before = cache.get(key)
    if (before?.first === first && before.last === last) return before.read
    const read =
      before?.first === first && before.last < last
        ? readOn(secret, before.read, before.last + 1, last)
        : readOn(secret, undefined, first, last)
    const one: CachedSecret = { first, last, read }
    cache.set(key, one, { size: LEAST_WEIGHT })
    read.then(
      ({ values }) => {
        // One that alone exceeds the limit stays until another one is read.
        const size = Math.min(weightOf([...values.values()]), MAX_BYTES)
        if (cache.peek(key) === one) cache.set(key, one, { size })
      },
      // A failed read is repeated the next time.
      () => {
        if (cache.peek(key) === one) cache.delete(key)
      },
    )
    return read
  }
}

const weightOf = (values: readonly string[]): number =>
  values.reduce((sum, { length }) => sum + LEAST_WEIGHT + 2 * length, LEAST_WEIGHT)
