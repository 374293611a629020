import type { SecretStore } from '../../domain/ports/secret-store.js'
import { scrubbing, type Scrub } from '../../domain/webhook/scrub.js'
import type { SigningSecret } from '../../domain/webhook/signing.js'
import type { KnownWebhook } from './directory.js'
import type { LiveVersion, SecretVersions } from './secret-versions.js'

/** The secrets that a webhook names, with their values. */
export interface WebhookSecrets {
  /** Null where the webhook names none; undefined where the one that it names is gone. */
  readonly accessToken: string | null | undefined
  /** Every version, the newest first; undefined where the one that the webhook names is gone. */
  readonly secrets: readonly SigningSecret[] | undefined
  /** Takes any version of any of them out of what a receiver answered. */
  readonly scrub: Scrub
}

interface Kept {
  /** What the log says of webhook and secrets: as long as that is the same, the values are. */
  readonly of: string
  readonly values: Promise<WebhookSecrets>
}

const MOST_KEPT = 500

/** Reads secrets as they are when a message is sent; those of the webhooks in use are remembered while they stand. */
export const secretValues = (
  store: Pick<SecretStore, 'get'>,
  versions: Pick<SecretVersions, 'of'>,
): ((webhook: KnownWebhook) => Promise<WebhookSecrets>) => {
  const kept = new Map<string, Kept>()

  const read = async (team: string, name: string | null, live: readonly LiveVersion[]) => {
    if (name === null) return []
    const found: SigningSecret[] = []
    for (const { version, since } of live) {
      const value = await store.get({ team, name, version })
      if (value !== undefined) found.unshift({ value, storedAt: new Date(since) })
    }
    return found
  }

  const readBoth = async (webhook: KnownWebhook): Promise<WebhookSecrets> => {
    const { team, content } = webhook
    const [tokens, secrets] = await Promise.all(
      [content.access_token, content.secret].map((name) => read(team, name, liveOf(team, name))),
    )
    return {
      accessToken: content.access_token === null ? null : tokens![0]?.value,
      secrets: content.secret !== null && secrets!.length === 0 ? undefined : secrets,
      scrub: scrubbing([...tokens!, ...secrets!].map(({ value }) => value)),
    }
  }

  const liveOf = (team: string, name: string | null) => (name === null ? [] : versions.of(team, name))

  return (webhook) => {
    const { id, team, content } = webhook
    const of = JSON.stringify([
      webhook.revision,
      liveOf(team, content.access_token),
      liveOf(team, content.secret),
    ])
    const before = kept.get(id)
    if (before?.of === of) return before.values
    const values = readBoth(webhook)
    // What could not be read now is read again the next time.
    values.catch(() => kept.delete(id))
    kept.delete(id)
    kept.set(id, { of, values })
    const [oldest] = kept.keys()
    if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest)
    return values
  }
}
