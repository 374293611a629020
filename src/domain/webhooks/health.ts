import type * as t from 'io-ts'
import { nullable } from '../../kernel/codec/containers.js'
import { instant, type Instant } from '../../kernel/codec/instant.js'
import { int64, oneOf, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { id, teamName } from '../../kernel/ids.js'
import { millisOf } from './deliveries/times.js'

const optional = {
  throttled_until: nullable(instant),
  failing_since: nullable(instant),
  next_probe_at: nullable(instant),
  last_error: nullable(string),
}

const webhookHealthChanged = open('WebhookHealthChanged', {
  says:
    'How the receiver of a webhook answers. `open`: after many failures, only one message is sent from time to time to ' +
    'probe it. Appended when the state changes, and once a minute while only the number of failures does.',
  required: {
    id,
    team: teamName,
    state: oneOf('healthy', 'failing', 'throttled', 'open'),
    consecutive_failures: int64,
  },
  optional,
})

export const webhookHealthEvents = { WebhookHealthChanged: webhookHealthChanged }
type Reported = t.TypeOf<typeof webhookHealthChanged>
export type WebhookHealth = Omit<Reported, 'id' | 'team'>

export const webhookHealthStream = (webhook: string): string => `webhook_health-${webhook}`

export const HEALTHY: WebhookHealth = {
  state: 'healthy',
  consecutive_failures: 0,
  throttled_until: null,
  failing_since: null,
  next_probe_at: null,
  last_error: null,
}

/** The fields of a webhook in the API. */
export const shownHealthFields = {
  required: {
    state: oneOf('healthy', 'failing', 'throttled', 'open', 'disabled'),
    consecutive_failures: int64,
  },
  optional,
}

/** The health at a time, from the last one that was reported. A disabled webhook has no attempts to come. */
export const healthAt = (
  { throttled_until, next_probe_at, state, ...health }: WebhookHealth,
  { enabled }: { readonly enabled: boolean },
  now: number,
) => {
  if (!enabled) return { ...health, state: 'disabled' as const, throttled_until: null, next_probe_at: null }
  const isThrottled = throttled_until !== null && millisOf(throttled_until) > now
  return {
    ...health,
    state: state === 'throttled' && !isThrottled ? stateOf(health.consecutive_failures) : state,
    throttled_until: isThrottled ? throttled_until : null,
    next_probe_at,
  }
}

const stateOf = (failures: number) => (failures > 0 ? 'failing' : 'healthy')

interface Observed {
  readonly failures: number
  readonly failingSince: Instant | null
  readonly lastError: string | null
  readonly throttledUntil: Instant | null
  /** When the breaker lets the next probe through; null while it is closed. */
  readonly probeAt: Instant | null
}

export const healthOf = (
  { failures, failingSince, lastError, throttledUntil, probeAt }: Observed,
  now: number,
): WebhookHealth => {
  const isThrottled = throttledUntil !== null && millisOf(throttledUntil) > now
  const calm = isThrottled ? 'throttled' : stateOf(failures)
  return {
    state: probeAt === null ? calm : 'open',
    consecutive_failures: failures,
    throttled_until: isThrottled ? throttledUntil : null,
    failing_since: failingSince,
    next_probe_at: isThrottled && probeAt !== null && throttledUntil > probeAt ? throttledUntil : probeAt,
    last_error: lastError,
  }
}
