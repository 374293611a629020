import type { SecretStore } from '../../domain/ports/secret-store.js'
import { versionedCache } from '../../domain/versioned-cache.js'
import { scrubbing, type Scrub } from '../../domain/webhook/scrub.js'
import type { SigningSecret } from '../../domain/webhook/signing.js'
import type { KnownWebhook } from './directory.js'
import type { LiveVersion, SecretVersions } from './secret-versions.js'

/** The secrets that a webhook names, with their values. */
export interface WebhookSecrets {
  /** Null where the webhook names none; undefined where the one that it names is gone. */
  readonly accessToken: string | null | undefined
  /** Its newest versions, the newest first; undefined where the one that the webhook names is gone. */
  readonly secrets: readonly SigningSecret[] | undefined
  /** Takes any version of any of them out of what a receiver answered. */
  readonly scrub: Scrub
}

interface Kept {
  readonly values: Promise<WebhookSecrets>
  readonly versions: number
  failed: boolean
}

/** Versions of secrets whose values are remembered: large ones take some 250 kB each, with all that is looked for. */
const MOST_KEPT = 1000

/** Reads secrets as they are when a message is sent; those of the webhooks in use are remembered while they stand. */
export const secretValues = (
  store: Pick<SecretStore, 'get'>,
  versions: Pick<SecretVersions, 'of'>,
): ((webhook: KnownWebhook) => Promise<WebhookSecrets>) => {
  const kept = versionedCache<Kept>({
    most: MOST_KEPT,
    weightOf: ({ versions }) => Math.max(1, versions),
    isWorthKeeping: () => true,
  })

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
    const live = [liveOf(team, content.access_token), liveOf(team, content.secret)]
    // As long as the log says the same of webhook and secrets, the values are the same.
    const of = JSON.stringify([webhook.revision, ...live])
    const before = kept.get(id, of)
    if (before?.failed === false) return before.values
    const values = readBoth(webhook)
    const entry: Kept = { values, versions: live.flat().length, failed: false }
    // What could not be read now is read again the next time.
    values.catch(() => (entry.failed = true))
    kept.put(id, of, entry)
    return values
  }
}
