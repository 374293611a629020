import type { Gateway } from '../gateway.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { SecretStore } from '../../kernel/ports/secret-store.js'
import { secretStream } from '../../domain/secrets/events.js'

interface SecretPorts extends Pick<Ports, 'eventStore'> {
  readonly secrets: Pick<SecretStore, 'get'>
}

/** Looks up the credential of an upstream: from the operator's file, or the newest value of a team's secret. */
export const upstreamCredentials = (
  { eventStore, secrets }: SecretPorts,
  configured: ReadonlyMap<string, string>,
): Gateway['credentialOf'] => {
  const newest = async (team: string, name: string): Promise<string> => {
    const last = eventStore.readStream(secretStream(team, name), { backwards: true, limit: 1 })
    for await (const { type, data } of last) {
      if (type === 'SecretDestroyed') break
      const value = await secrets.get({ team, name, version: Number(data['version']) })
      if (value !== undefined) return value
    }
    throw new Error('the secret has no value')
  }

  return async ({ id, team, content: { secret } }) =>
    team === null || secret === null ? (configured.get(id) ?? null) : newest(team, secret)
}
