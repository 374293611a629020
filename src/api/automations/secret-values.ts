import type { Ports } from '../../domain/ports/ports.js'
import type { SecretStore } from '../../domain/ports/secret-store.js'
import { secretStream } from '../../domain/secret/events.js'
import type { SigningSecret } from '../../domain/webhook/signing.js'

interface SecretPorts extends Pick<Ports, 'eventStore'> {
  readonly secrets: Pick<SecretStore, 'get'>
}

/** The values of a team's secret that the log knows of, the newest first; none where no secret is named. */
export const secretValuesOf = async (
  { eventStore, secrets }: SecretPorts,
  team: string,
  name: string | null,
): Promise<readonly SigningSecret[]> => {
  if (name === null) return []
  const live: { readonly version: number; readonly storedAt: Date }[] = []
  for await (const { type, data, recordedAt } of eventStore.readStream(secretStream(team, name))) {
    if (type === 'SecretDestroyed') live.length = 0
    else live.push({ version: Number(data['version']), storedAt: recordedAt })
  }
  const values: SigningSecret[] = []
  for (const { version, storedAt } of live) {
    const value = await secrets.get({ team, name, version })
    if (value !== undefined) values.unshift({ value, storedAt })
  }
  return values
}
