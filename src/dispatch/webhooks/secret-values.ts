import type { SecretStore } from '../../kernel/ports/secret-store.js'
import { redactSecrets, type Redact } from '../../domain/secrets/redact-secrets.js'
import type { SigningSecret } from '../../domain/webhooks/signing.js'
import type { KnownWebhook } from './directory.js'
import { rememberedSecrets, type SecretRead } from './remembered-secrets.js'
import type { LiveSecret, SecretVersions } from './secret-versions.js'

/** The secrets that a webhook names, with their values. */
export interface WebhookSecrets {
  /** Null where the webhook names none; undefined where the one that it names is gone. */
  readonly accessToken: string | null | undefined
  /** Its newest versions, the newest first; undefined where the one that the webhook names is gone. */
  readonly secrets: readonly SigningSecret[] | undefined
  /** Redacts every version of each of them. */
  readonly redact: Redact
}

/** Reads secrets as they are when a message is sent; those in use are remembered while they stand. */
export const secretValues = (
  store: Pick<SecretStore, 'get'>,
  versions: Pick<SecretVersions, 'of'>,
): ((webhook: KnownWebhook) => Promise<WebhookSecrets>) => {
  const remembered = rememberedSecrets(store)

  const read = async (team: string, name: string | null): Promise<Named | null> => {
    const live = name === null ? undefined : versions.of(team, name)
    if (name === null || live === undefined) return null
    const secret = await remembered({ team, name }, live)
    return { secret, newest: newestOf(secret, live) }
  }

  return async ({ team, content }) => {
    const [token, secret] = await Promise.all([read(team, content.access_token), read(team, content.secret)])
    const secrets = secret?.newest ?? []
    return {
      accessToken: content.access_token === null ? null : token?.newest[0]?.value,
      secrets: content.secret !== null && secrets.length === 0 ? undefined : secrets,
      redact: redactSecrets([token, secret].flatMap((named) => named?.secret.matcher ?? [])),
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
