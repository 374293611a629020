import { secretStream } from '../../domain/secrets/secret.js'
import type { Upstream } from '../../domain/gateway/upstreams/directory.js'
import { renderExtras, secretsInExtras, type Extras } from '../../domain/gateway/upstreams/extras.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { SecretStore } from '../../kernel/ports/secret-store.js'

interface SecretPorts extends Pick<Ports, 'eventStore'> {
  readonly secrets: Pick<SecretStore, 'get'>
}

/** What an upstream gets with each request. */
export interface UpstreamCredentials extends Extras {
  /** Null for an upstream that needs none. */
  readonly bearer: string | null
  /** All secret values in it. */
  readonly secrets: readonly string[]
}

/** Undefined where a secret has no value, or one that cannot be sent. */
export type CredentialsOf = (upstream: Upstream) => Promise<UpstreamCredentials | undefined>

interface Configured {
  readonly credentials: ReadonlyMap<string, string>
  readonly variable: (name: string) => string | undefined
}

/** From the operator's file and the environment, or the newest values of a team's secrets. */
export const upstreamCredentials = (
  { eventStore, secrets }: SecretPorts,
  { credentials, variable }: Configured,
): CredentialsOf => {
  const newest = async (team: string, name: string): Promise<string | undefined> => {
    const last = eventStore.readStream(secretStream(team, name), { backwards: true, limit: 1 })
    for await (const { type, data } of last) {
      if (type === 'SecretDestroyed') break
      return secrets.get({ team, name, version: Number(data['version']) })
    }
    return undefined
  }

  return async ({ id, team, content }) => {
    const valueOf = (name: string) =>
      team === null ? Promise.resolve(variable(name)) : newest(team, name).catch(() => undefined)
    const { secret } = content
    const bearer = team === null || secret === null ? (credentials.get(id) ?? null) : await valueOf(secret)
    if (bearer === undefined) return undefined
    const values = new Map<string, string | undefined>()
    for (const name of secretsInExtras(content)) values.set(name, await valueOf(name))
    const extras = renderExtras(content, (name) => values.get(name))
    if (extras === undefined) return undefined
    const used = [bearer, ...values.values()].filter((value) => typeof value === 'string')
    return { ...extras, bearer, secrets: used }
  }
}
