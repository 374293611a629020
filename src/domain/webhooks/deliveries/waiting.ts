import type * as t from 'io-ts'
import { instantOf, type Instant } from '../../../kernel/codec/instant.js'
import { oneOf } from '../../../kernel/codec/leaves.js'
import type { WebhookHealth } from '../health.js'
import { millisOf } from './times.js'

/** What a pending, retrying or held delivery waits for. */
export const waitingReason = oneOf(
  'webhook_disabled',
  'throttled',
  'circuit_breaker',
  'retry',
  'rate_limit',
  'queue',
)

interface WaitingWebhook {
  readonly enabled: boolean
  readonly maxPerMinute: number | null
  readonly health: Pick<WebhookHealth, 'throttled_until' | 'next_probe_at'>
}

/** When the next attempt is expected at the earliest, and why not before. `dueAt` is the delivery's own time. */
export const waitOf = (
  dueAt: Instant | null,
  { enabled, maxPerMinute, health }: WaitingWebhook,
  now: number,
): { readonly next_at: Instant | null; readonly waiting_reason: t.TypeOf<typeof waitingReason> } => {
  if (!enabled) return { next_at: null, waiting_reason: 'webhook_disabled' }
  const due = dueAt === null ? now : millisOf(dueAt)
  const until = (instant: Instant | null) => (instant === null ? 0 : millisOf(instant))
  const [throttled, probe] = [until(health.throttled_until), until(health.next_probe_at)]
  if (throttled > Math.max(now, due, probe))
    return { next_at: health.throttled_until, waiting_reason: 'throttled' }
  if (health.next_probe_at !== null && probe > due)
    return {
      next_at: probe > now ? health.next_probe_at : instantOf(new Date(now)),
      waiting_reason: 'circuit_breaker',
    }
  if (due > now) return { next_at: dueAt, waiting_reason: 'retry' }
  return { next_at: instantOf(new Date(now)), waiting_reason: maxPerMinute === null ? 'queue' : 'rate_limit' }
}
