import { LRUCache } from 'lru-cache'
import { BucketUnavailable, type Bucket } from '../../kernel/ports/bucket.js'
import {
  SecretsUnavailable,
  type HeldSecret,
  type SecretName,
  type SecretStore,
  type SecretVersion,
} from '../../kernel/ports/secret-store.js'
import { keyIdOf, seal, unseal } from './envelope.js'
import type { KeyRing } from './key-ring.js'
import { readable, type ReencryptionResult } from './reencrypt.js'

/** Sealed values, and next to each a mark once the log is known to contain it. */
const SECRETS = 'secrets/'
const CONFIRMED = '.confirmed'
const DIGITS = 10
const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** A team may be named "..", which must not become a part of a path. */
const startOfTeam = (team: string) => `${SECRETS}team-${team}/`
const startOf = ({ team, name }: SecretName) => `${startOfTeam(team)}${name}/`
const keyOf = (secret: SecretVersion) => startOf(secret) + String(secret.version).padStart(DIGITS, '0')
const KEY = /^secrets\/team-([^/]+)\/([^/]+)\/(\d{10})(\.confirmed)?$/

/** Sealed values that were read; they are used only for versions that the log has not destroyed. */
const KEPT = { max: 1000, ttl: 60_000 }

export interface BucketSecretStore extends SecretStore {
  readonly missingKeys: () => Promise<readonly string[]>
}

/** Secrets as objects of a bucket; a version is written once, by a conditional write. */
export const openBucketSecretStore = (bucket: Bucket, ring: KeyRing): BucketSecretStore => {
  const kept = new LRUCache<string, string>(KEPT)

  const sealedAt = async (key: string) => {
    const known = kept.get(key)
    if (known !== undefined) return known
    const found = await bucket.get(key)
    if (found === undefined) return undefined
    const sealed = Buffer.from(found).toString()
    kept.set(key, sealed)
    return sealed
  }

  const held = async function* (start: string, after?: string): AsyncGenerator<HeldSecret> {
    let last: (HeldSecret & { readonly key: string }) | undefined
    for await (const { key, modified } of bucket.list(start, after)) {
      const [, team = '', name = '', version, mark] = KEY.exec(key) ?? []
      if (version === undefined) continue
      if (mark !== undefined) {
        // A value that was sealed again is younger than its mark.
        if (last?.key !== key.slice(0, -CONFIRMED.length)) continue
        const storedAt = new Date(Math.min(last.storedAt.getTime(), modified.getTime()))
        last = { ...last, storedAt, confirmed: true }
        continue
      }
      if (last !== undefined) yield last
      last = { key, team, name, version: Number(version), storedAt: modified, confirmed: false }
    }
    if (last !== undefined) yield last
  }

  return {
    put: (secret, value) =>
      mapped(() => bucket.create(keyOf(secret), Buffer.from(seal(ring.active(), secret, value)))),
    get: (secret) =>
      mapped(async () => {
        const sealed = await sealedAt(keyOf(secret))
        return sealed === undefined ? undefined : unseal(ring.find, secret, sealed)
      }),
    confirm: (secret) => mapped(() => bucket.put(keyOf(secret) + CONFIRMED, new Uint8Array(), EMPTY_SHA256)),
    destroy: (secrets) =>
      mapped(async () => {
        for (const secret of secrets) {
          kept.delete(keyOf(secret))
          // A mark that is left would confirm the next value of the same number.
          await bucket.delete(keyOf(secret) + CONFIRMED)
          await bucket.delete(keyOf(secret))
        }
      }),
    teams: () =>
      mapped(async () => {
        const teams = new Set<string>()
        for await (const { team } of held(SECRETS)) teams.add(team)
        return [...teams].sort()
      }),
    names: (team, { after, limit }) =>
      mapped(async () => {
        const names = new Map<string, Date>()
        // Sorts after all versions of the name, as "/" sorts before all characters of names.
        const from = after === undefined ? undefined : `${startOf({ team, name: after })}~`
        for await (const { name, storedAt } of held(startOfTeam(team), from)) {
          if (!names.has(name) && names.size === limit) break
          const known = names.get(name)
          if (known === undefined || storedAt < known) names.set(name, storedAt)
        }
        return [...names].map(([name, since]) => ({ name, since }))
      }),
    versions: (secret) =>
      mapped(async () => {
        const versions: HeldSecret[] = []
        for await (const { team, name, version, storedAt, confirmed } of held(startOf(secret)))
          versions.push({ team, name, version, storedAt, confirmed })
        return versions
      }),
    missingKeys: () =>
      mapped(async () => {
        const needed = new Set<string>()
        const reading: Promise<unknown>[] = []
        for await (const secret of held(SECRETS))
          reading.push(sealedAt(keyOf(secret)).then((sealed) => sealed && needed.add(keyIdOf(sealed))))
        await Promise.all(reading)
        return [...needed].filter((id) => ring.find(id) === undefined)
      }),
    close: () => Promise.resolve(),
  }
}

/** Re-encrypts all values with the active key, also while services run. A value that is destroyed meanwhile stays so. */
export const reencryptBucketSecrets = async (
  bucket: Bucket,
  ring: KeyRing,
  note: (done: number, all: number) => void,
): Promise<ReencryptionResult> => {
  const master = ring.active()
  const unreadable = new Map<string, number>()
  let [done, reencrypted, already] = [0, 0, 0]
  for await (const { key } of bucket.list(SECRETS)) {
    const [, team, name, version, mark] = KEY.exec(key) ?? []
    if (team === undefined || name === undefined || mark !== undefined) continue
    const secret = { team, name, version: Number(version) }
    const isReplaced = await bucket.replace(key, (content) => {
      const envelope = Buffer.from(content).toString()
      const keyId = keyIdOf(envelope)
      const value = keyId === master.id ? undefined : readable(ring, { ...secret, envelope })
      if (keyId === master.id) already += 1
      else if (value === undefined) unreadable.set(keyId, (unreadable.get(keyId) ?? 0) + 1)
      return value === undefined ? undefined : Buffer.from(seal(master, secret, value))
    })
    if (isReplaced) reencrypted += 1
    done += 1
    note(done, done)
  }
  return { activeKey: master.id, reencrypted, already, unreadable }
}

const mapped = async <A>(work: () => Promise<A>): Promise<A> => {
  try {
    return await work()
  } catch (cause) {
    if (!(cause instanceof BucketUnavailable)) throw cause
    throw new SecretsUnavailable(`the secret store failed: ${cause.reason}`, { cause })
  }
}
