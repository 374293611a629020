import { LRUCache } from 'lru-cache'
import type { SecretStore, SecretName } from '../../kernel/ports/secret-store.js'
import {
  redactSecrets,
  secretMatcher,
  type Redact,
  type SecretMatcher,
} from '../../domain/secrets/redact-secrets.js'
import { headerSecrets } from '../../domain/secrets/static-headers.js'
import type { SigningSecret } from '../../domain/webhooks/signing.js'
import type { Endpoint } from './endpoint.js'
import type { LiveSecret, SecretVersions } from './secret-versions.js'

/** The secrets that a webhook names, with their values. */
export interface WebhookSecrets {
  /** Null if the webhook names none; undefined if the secret no longer exists. */
  readonly accessToken: string | null | undefined
  /** Its newest versions, the newest first; undefined if the secret no longer exists. */
  readonly secrets: readonly SigningSecret[] | undefined
  /** The newest values of the secrets in its headers; a secret that no longer exists is missing. */
  readonly headers: ReadonlyMap<string, string>
  /** Redacts every version of each of them. */
  readonly redact: Redact
}

/** Reads the secrets of a webhook, with a cache. */
export const secretValues = (
  store: Pick<SecretStore, 'get'>,
  versions: Pick<SecretVersions, 'of'>,
): ((webhook: Endpoint) => Promise<WebhookSecrets>) => {
  const remembered = rememberedSecrets(store)

  const read = async (team: string, name: string | null): Promise<Named | null> => {
    const live = name === null ? undefined : versions.of(team, name)
    if (name === null || live === undefined) return null
    const secret = await remembered({ team, name }, live)
    return { secret, newest: newestOf(secret, live) }
  }

  return async ({ team, content }) => {
    const names = headerSecrets(content.headers)
    const [token, secret, ...ofHeaders] = await Promise.all(
      [content.access_token, content.secret, ...names].map((name) => read(team, name)),
    )
    const secrets = secret?.newest ?? []
    return {
      accessToken: content.access_token === null ? null : token?.newest[0]?.value,
      secrets: content.secret !== null && secrets.length === 0 ? undefined : secrets,
      headers: new Map(
        names.flatMap((name, at) => {
          const value = ofHeaders[at]?.newest[0]?.value
          return value === undefined ? [] : [[name, value] as const]
        }),
      ),
      redact: redactSecrets([token, secret, ...ofHeaders].flatMap((named) => named?.secret.matcher ?? [])),
    }
  }
}

interface Named {
  readonly secret: SecretRead
  readonly newest: readonly SigningSecret[]
}

const newestOf = ({ values }: SecretRead, { newest }: LiveSecret): readonly SigningSecret[] =>
  newest.toReversed().flatMap(({ version, since }) => {
    const value = values.get(version)
    return value === undefined ? [] : [{ value, storedAt: new Date(since) }]
  })

/** All versions of a secret that are not destroyed. */
interface SecretRead {
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
/** Approximate size of the matcher of a short version. */
const LEAST_WEIGHT = 8000

/** An LRU cache of secrets. After a rotation it reads only the new versions. */
const rememberedSecrets = (
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
        // A secret larger than the limit stays until another is read.
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
