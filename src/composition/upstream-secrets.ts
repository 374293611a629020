import type { Inference } from '../api/inference/inference.js'
import type { Ports } from '../domain/ports/ports.js'
import type { SecretStore } from '../domain/ports/secret-store.js'
import { secretStream } from '../domain/secret/events.js'

interface SecretPorts extends Pick<Ports, 'eventStore'> {
  readonly secrets: Pick<SecretStore, 'get' | 'names' | 'versions'>
}

/** How long a value that was read is used again; for so long one that was destroyed may still be sent. */
const GOOD_FOR_MS = 1000
/** Secrets of a team beside the upstream's own that are looked for in what the upstream says. */
const MOST_NAMES = 100

/** What upstreams are sent, and what nothing they say may hold. */
export const upstreamSecrets = (
  { eventStore, secrets }: SecretPorts,
  configured: ReadonlyMap<string, string>,
): Pick<Inference['inference'], 'credentialOf' | 'secretsOf'> => {
  /** The newest value that the log knows of. */
  const newest = async (team: string, name: string): Promise<string> => {
    const last = eventStore.readStream(secretStream(team, name), { backwards: true, limit: 1 })
    for await (const { type, data } of last) {
      if (type === 'SecretDestroyed') break
      const value = await secrets.get({ team, name, version: Number(data['version']) })
      if (value !== undefined) return value
    }
    throw new Error('the secret has no value')
  }
  const allOf = async (team: string): Promise<readonly string[]> => {
    const names = await secrets.names(team, { after: undefined, limit: MOST_NAMES })
    return (await Promise.all(names.map(({ name }) => versionsOf(team, name)))).flat()
  }
  const versionsOf = async (team: string, name: string): Promise<readonly string[]> => {
    const values = await Promise.all(
      (await secrets.versions({ team, name })).map((one) => secrets.get(one).catch(() => undefined)),
    )
    return values.filter((value) => value !== undefined)
  }
  const newestKept = keptFor(newest)
  const versionsKept = keptFor(versionsOf)
  const allKept = keptFor(allOf)

  return {
    credentialOf: async ({ id, team, content: { secret } }) => {
      if (team === null || secret === null) return configured.get(id) ?? null
      return newestKept(team, secret)
    },
    secretsOf: async ({ id, team, content: { secret } }) => {
      const own = configured.get(id)
      if (team === null) return own === undefined ? [] : [own]
      return [...(secret === null ? [] : await versionsKept(team, secret)), ...(await allKept(team))]
    },
  }
}

/** Answers are used again for a moment, by those who ask for the same. */
const keptFor = <Of extends readonly string[], A>(read: (...of: Of) => Promise<A>) => {
  const kept = new Map<string, Promise<A>>()
  return (...of: Of): Promise<A> => {
    const key = JSON.stringify(of)
    const known = kept.get(key)
    if (known !== undefined) return known
    const reading = read(...of)
    kept.set(key, reading)
    const forget = () => void kept.delete(key)
    reading.catch(forget)
    setTimeout(forget, GOOD_FOR_MS).unref()
    return reading
  }
}
