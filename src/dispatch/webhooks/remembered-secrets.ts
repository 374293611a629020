import type { SecretName, SecretStore } from '../../domain/ports/secret-store.js'
import { secretMatcher, type SecretMatcher } from '../../domain/secret/redact-secrets.js'
import type { LiveSecret } from './secret-versions.js'

/** All versions of a secret that are not destroyed. */
export interface SecretRead {
  readonly values: ReadonlyMap<number, string>
  readonly matcher: SecretMatcher
}

interface Kept {
  readonly first: number
  readonly last: number
  readonly read: Promise<SecretRead>
  weight: number
}

/** Bytes that all together take, about. The one that was needed last is kept in any case. */
const MOST_KEPT = 100_000_000
/** What a version takes for its matcher, about, however short it is. */
const LEAST_WEIGHT = 8000

/** Reads secrets that were not needed lately; of those that were rotated since, the new versions alone. */
export const rememberedSecrets = (
  store: Pick<SecretStore, 'get'>,
): ((secret: SecretName, live: LiveSecret) => Promise<SecretRead>) => {
  const kept = new Map<string, Kept>()
  let total = 0

  const drop = (key: string) => {
    total -= kept.get(key)?.weight ?? 0
    kept.delete(key)
  }
  const weigh = (key: string, one: Kept, weight: number) => {
    if (kept.get(key) !== one) return
    one.weight = weight
    total += weight
    for (const oldest of kept.keys()) {
      if (total <= MOST_KEPT || kept.size === 1) return
      drop(oldest)
    }
  }

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
    const before = kept.get(key)
    if (before?.first === first && before.last === last) {
      kept.delete(key)
      kept.set(key, before)
      return before.read
    }
    drop(key)
    const read =
      before?.first === first && before.last < last
        ? readOn(secret, before.read, before.last + 1, last)
        : readOn(secret, undefined, first, last)
    const one: Kept = { first, last, read, weight: 0 }
    kept.set(key, one)
    read.then(
      ({ values }) => weigh(key, one, weightOf([...values.values()])),
      // What could not be read now is read again the next time.
      () => {
        if (kept.get(key) === one) drop(key)
      },
    )
    return read
  }
}

const weightOf = (values: readonly string[]): number =>
  values.reduce((sum, { length }) => sum + LEAST_WEIGHT + 2 * length, LEAST_WEIGHT)
