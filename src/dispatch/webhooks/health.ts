import { instantAt } from '../../domain/webhooks/deliveries/times.js'
import { HEALTHY, healthOf, webhookHealthStream, type WebhookHealth } from '../../domain/webhooks/health.js'
import { jsonEqual } from '../../kernel/json/equal.js'
import type { Endpoint } from './endpoint.js'
import { appendEvent, type AppendDeps } from './append-event.js'

interface HealthDeps extends AppendDeps {
  readonly endpoint: (webhook: string) => Endpoint | undefined
}

export interface HealthReports {
  /** The health of a webhook may have changed. */
  readonly note: (webhook: string) => void
  /** Appends what changed. A failed append is repeated by the next call. */
  readonly flush: (now: number) => void
}

/** Limits the events of a receiver that fails now and then. */
const BETWEEN_STATES_MS = 5000
/** The number of failures and the last error change with each attempt. */
const BETWEEN_COUNTS_MS = 60_000

/** Reports the health of webhooks to the API, which may run in another process. */
export const reportingHealth = ({ endpoint, ...ports }: HealthDeps): HealthReports => {
  const changed = new Set<string>()
  const writing = new Set<string>()

  const append = async ({ id, team, reported }: Endpoint, health: WebhookHealth): Promise<void> => {
    writing.add(id)
    try {
      const expected = reported === null ? 'none' : BigInt(reported.revision)
      const event = { type: 'WebhookHealthChanged', data: { id, team, ...health } } as const
      await appendEvent(ports, webhookHealthStream(id), expected, event, id, { tries: 1 })
    } catch {
      // Another process reported, or the log is not available: compare again later.
      changed.add(id)
    } finally {
      writing.delete(id)
    }
  }

  return {
    note: (webhook) => void changed.add(webhook),
    flush: (now) => {
      for (const id of changed) {
        const webhook = endpoint(id)
        if (webhook === undefined || !webhook.enabled) {
          changed.delete(id)
          continue
        }
        if (writing.has(id)) continue
        const health = healthNow(webhook, now)
        const before = webhook.reported?.health ?? HEALTHY
        if (jsonEqual(before, health)) {
          changed.delete(id)
          continue
        }
        const sinceMs = Math.abs(now - (webhook.reported?.at ?? 0))
        if (sinceMs < (isSameState(before, health) ? BETWEEN_COUNTS_MS : BETWEEN_STATES_MS)) continue
        changed.delete(id)
        void append(webhook, health)
      }
    },
  }
}

const isSameState = (one: WebhookHealth, other: WebhookHealth): boolean =>
  one.state === other.state &&
  one.throttled_until === other.throttled_until &&
  one.next_probe_at === other.next_probe_at &&
  one.failing_since === other.failing_since

const healthNow = (webhook: Endpoint, now: number): WebhookHealth =>
  healthOf(
    {
      failures: webhook.failures,
      failingSince: webhook.failingSince === null ? null : instantAt(webhook.failingSince),
      lastError: webhook.lastError,
      throttledUntil: webhook.throttledUntil === 0 ? null : instantAt(webhook.throttledUntil),
      probeAt: webhook.breaker.phase === 'closed' ? null : instantAt(webhook.breaker.until),
    },
    now,
  )
