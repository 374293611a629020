import type { Ports } from '../../kernel/ports/ports.js'
import type { SecretStore } from '../../kernel/ports/secret-store.js'
import { secretStream } from '../../domain/secrets/secret.js'
import type { SigningSecret } from '../../domain/webhooks/signing.js'

interface SecretPorts extends Pick<Ports, 'eventStore'> {
  readonly secrets: Pick<SecretStore, 'get'>
}

/** The values of a team's secret that are confirmed by the log, newest first; none if `name` is null.
 * At most `limit` versions are read. */
export const secretValuesOf = async (
  { eventStore, secrets }: SecretPorts,
  team: string,
  name: string | null,
  limit?: number,
): Promise<readonly SigningSecret[]> => {
  if (name === null) return []
  const values: SigningSecret[] = []
  const newestFirst = eventStore.readStream(secretStream(team, name), {
    backwards: true,
    ...(limit === undefined ? {} : { limit }),
  })
  for await (const { type, data, recordedAt } of newestFirst) {
    if (type === 'SecretDestroyed') break
    if (type === 'SecretUsesChanged') continue
    const value = await secrets.get({ team, name, version: Number(data['version']) })
    if (value !== undefined) values.push({ value, storedAt: recordedAt })
  }
  return values
}
