import type * as t from 'io-ts'
import { instantOf, type Instant } from '../../../kernel/codec/instant.js'
import { oneOf } from '../../../kernel/codec/leaves.js'
import type { WebhookHealth } from '../health.js'
import { MAX_RETRY_AFTER_MS } from './retry-after.js'
import { millisOf } from './times.js'

/** How far the clocks of two processes may differ. */
const CLOCK_SKEW_MS = 60_000

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

interface Wait {
  /** The delivery's own time. */
  readonly dueAt: Instant | null
  /** When the log recorded the event that set it. */
  readonly since: Instant
}

/**
 * When the next attempt is expected at the earliest, and why not before. A wait that began in the future, because the
 * clock was set back, begins again, as in the dispatcher.
 */
export const waitOf = (
  { dueAt, since }: Wait,
  { enabled, maxPerMinute, health }: WaitingWebhook,
  now: number,
): { readonly next_at: Instant | null; readonly waiting_reason: t.TypeOf<typeof waitingReason> } => {
  if (!enabled) return { next_at: null, waiting_reason: 'webhook_disabled' }
  const ahead = Math.max(0, millisOf(since) - now)
  const due = dueAt === null ? now : millisOf(dueAt) - (ahead > CLOCK_SKEW_MS ? ahead : 0)
  const until = (instant: Instant | null) => {
    const at = instant === null ? 0 : millisOf(instant)
    return at > now + MAX_RETRY_AFTER_MS + CLOCK_SKEW_MS ? 0 : at
  }
  const [throttled, probe] = [until(health.throttled_until), until(health.next_probe_at)]
  if (throttled > Math.max(now, due, probe))
    return { next_at: health.throttled_until, waiting_reason: 'throttled' }
  if (health.next_probe_at !== null && probe > due)
    return {
      next_at: probe > now ? health.next_probe_at : instantOf(new Date(now)),
      waiting_reason: 'circuit_breaker',
    }
  if (due > now)
    return { next_at: ahead > CLOCK_SKEW_MS ? instantOf(new Date(due)) : dueAt, waiting_reason: 'retry' }
  return { next_at: instantOf(new Date(now)), waiting_reason: maxPerMinute === null ? 'queue' : 'rate_limit' }
}
