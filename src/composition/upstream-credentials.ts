import type { Inference } from '../api/inference/inference.js'
import type { Ports } from '../domain/ports/ports.js'
import type { SecretStore } from '../domain/ports/secret-store.js'
import { secretStream } from '../domain/secret/events.js'

interface SecretPorts extends Pick<Ports, 'eventStore'> {
  readonly secrets: Pick<SecretStore, 'get'>
}

/** TTL of a cached value: a destroyed secret may still be sent for this long. */
const CACHED_FOR_MS = 1000

/** Looks up the credential of an upstream: from the operator's file, or the newest value of a team's secret. */
export const upstreamCredentials = (
  { eventStore, secrets }: SecretPorts,
  configured: ReadonlyMap<string, string>,
): Inference['inference']['credentialOf'] => {
  const newest = async (team: string, name: string): Promise<string> => {
    const last = eventStore.readStream(secretStream(team, name), { backwards: true, limit: 1 })
    for await (const { type, data } of last) {
      if (type === 'SecretDestroyed') break
      const value = await secrets.get({ team, name, version: Number(data['version']) })
      if (value !== undefined) return value
    }
    throw new Error('the secret has no value')
  }
  const cached = new Map<string, Promise<string>>()

  return async ({ id, team, content: { secret } }) => {
    if (team === null || secret === null) return configured.get(id) ?? null
    const key = `${team}/${secret}`
    const known = cached.get(key)
    if (known !== undefined) return known
    const reading = newest(team, secret)
    cached.set(key, reading)
    const forget = () => void cached.delete(key)
    reading.catch(forget)
    setTimeout(forget, CACHED_FOR_MS).unref()
    return reading
  }
}
