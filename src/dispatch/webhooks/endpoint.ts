import * as E from 'fp-ts/lib/Either.js'
import { MAX_RETRY_AFTER_MS } from '../../domain/webhooks/deliveries/retry-after.js'
import { webhookContent, type WebhookContent } from '../../domain/webhooks/webhook.js'
import { webhookHealthEvents, type WebhookHealth } from '../../domain/webhooks/health.js'
import { afterFailure, closed, probing, type CircuitBreaker } from '../../kernel/circuit-breaker.js'
import type { RecordedEvent } from '../../kernel/ports/event-store.js'

/**
 * A webhook, and what its attempts showed about its receiver: a fold of the log, so it is the same after a restart and
 * in every process. Times are milliseconds since 1970.
 */
export interface Endpoint {
  readonly id: string
  readonly team: string
  readonly content: WebhookContent
  readonly enabled: boolean
  /** The last revision of the webhook's stream. */
  readonly revision: number
  /** The revision that last created, changed, enabled or released it: attempts that started before it do not count. */
  readonly resetRevision: number
  readonly breaker: CircuitBreaker
  /** A user resent a message while the breaker was open: the next success releases the waiting messages. */
  readonly closedByHand: boolean
  /** The end of the receiver's last Retry-After; 0 for none. */
  readonly throttledUntil: number
  /** The last attempt timed out. */
  readonly hangs: boolean
  /** Successes in a row, at most as many as raise the concurrency limit to its maximum. */
  readonly successes: number
  /** The end of the first failed attempt since the last success. */
  readonly failingSince: number | null
  /** Failed attempts since the last success. */
  readonly failures: number
  readonly lastError: string | null
  /** The last `WebhookHealthChanged`, with the revision of its stream. */
  readonly reported: { readonly health: WebhookHealth; readonly revision: number; readonly at: number } | null
  /** The last request that resent messages, and when. */
  readonly lastResend: { readonly request: string; readonly at: number } | null
}

const unknownReceiver = {
  breaker: closed,
  closedByHand: false,
  throttledUntil: 0,
  hangs: false,
  successes: 0,
  failingSince: null,
  failures: 0,
  lastError: null,
  lastResend: null,
}

/** Applies an event of the webhook's stream. Undefined if the webhook does not exist, or no longer. */
export const afterWebhookEvent = (
  before: Endpoint | undefined,
  { type, stream, data, revision: atRevision }: RecordedEvent,
): Endpoint | undefined => {
  const revision = Number(atRevision)
  if (type === 'WebhookDeleted') return undefined
  if (type === 'WebhookCreated' || type === 'WebhookChanged') {
    const content = webhookContent.decode(data)
    if (E.isLeft(content)) return before
    const reset = { ...unknownReceiver, content: content.right, revision, resetRevision: revision }
    if (before !== undefined) return { ...before, ...reset }
    const { team, enabled } = data
    if (typeof team !== 'string') return undefined
    const id = stream.slice('webhook-'.length)
    return { id, team, enabled: enabled !== false, reported: null, ...reset }
  }
  if (before === undefined) return undefined
  switch (type) {
    case 'WebhookEnabled':
      return { ...before, ...unknownReceiver, enabled: true, revision, resetRevision: revision }
    case 'WebhookReleased': {
      // It is failing until an attempt succeeds.
      const { failingSince, failures, lastError } = before
      return {
        ...before,
        ...unknownReceiver,
        failingSince,
        failures,
        lastError,
        revision,
        resetRevision: revision,
      }
    }
    case 'WebhookDisabled':
      return { ...before, enabled: false, revision }
    default:
      return { ...before, revision }
  }
}

/** Applies a `WebhookHealthChanged`. */
export const afterHealthReport = (
  before: Endpoint,
  { data, revision, recordedAt }: RecordedEvent,
): Endpoint => {
  const decoded = webhookHealthEvents.WebhookHealthChanged.decode(data)
  if (E.isLeft(decoded)) return before
  const { id: _, team: __, ...health } = decoded.right
  return { ...before, reported: { health, revision: Number(revision), at: recordedAt.getTime() } }
}

/** Whether an attempt that used a revision of the webhook started after the webhook was last reset. */
export const startedAfterReset = ({ resetRevision }: Endpoint, revision: number): boolean =>
  revision >= resetRevision

/** The result of an attempt that reached the receiver, or tried to. */
export interface AttemptObserved {
  readonly webhookRevision: number
  readonly startedAt: number
  readonly endedAt: number
  readonly receiverUp: boolean
  readonly timedOut: boolean
  readonly error: string
  /** The receiver's Retry-After; null for none, and if the receiver is up. */
  readonly throttledUntil: number | null
}

const BREAKER = {
  opens: (failuresInARow: number) => failuresInARow >= 10,
  firstOpenMs: 30_000,
  maxOpenMs: 600_000,
}

/** Applies the result of an attempt. Returns the same object if nothing changed. */
export const afterAttempt = (before: Endpoint, attempt: AttemptObserved): Endpoint => {
  const { receiverUp, startedAt, endedAt, timedOut } = attempt
  if (!startedAfterReset(before, attempt.webhookRevision)) return before
  const throttledUntil = Math.max(before.throttledUntil, attempt.throttledUntil ?? 0)
  if (receiverUp) {
    const isHealthy = before.failures === 0 && before.breaker.phase === 'closed' && !before.closedByHand
    if (isHealthy && before.successes === MAX_SUCCESSES) return before
    const { failingSince, failures, lastError } = unknownReceiver
    const successes = Math.min(before.successes + 1, MAX_SUCCESSES)
    const healthy = { breaker: closed, closedByHand: false, hangs: false, successes }
    return { ...before, ...healthy, failingSince, failures, lastError }
  }
  const { breaker } = before
  // Attempts from before the breaker opened may still fail: only the probe extends the open time.
  const isProbe = breaker.phase === 'open' && startedAt >= breaker.until
  return {
    ...before,
    throttledUntil,
    breaker: afterFailure(isProbe ? probing(breaker) : breaker, endedAt, BREAKER),
    hangs: timedOut,
    successes: 0,
    failingSince: before.failingSince ?? endedAt,
    failures: before.failures + 1,
    lastError: attempt.error,
  }
}

/** Whether an attempt showed that the receiver works again, so that waiting retries need not wait any longer. */
export const hasRecovered = (before: Endpoint, after: Endpoint): boolean =>
  (before.breaker.phase !== 'closed' || before.closedByHand) &&
  after.breaker.phase === 'closed' &&
  !after.closedByHand

const ONE_REQUEST_MS = 60_000

/** A user resends a message: lifts Retry-After and closes the breaker, once for each request. */
export const afterResend = (before: Endpoint, request: string, at: number): Endpoint => {
  const { lastResend, breaker, closedByHand } = before
  if (lastResend?.request === request && Math.abs(at - lastResend.at) < ONE_REQUEST_MS) return before
  return {
    ...before,
    breaker: closed,
    closedByHand: closedByHand || breaker.phase !== 'closed',
    throttledUntil: 0,
    lastResend: { request, at },
  }
}

/** All waits end earlier by the time that the clock was set back. */
export const afterClockSetBack = (before: Endpoint, byMs: number): Endpoint => {
  const { breaker, throttledUntil } = before
  if (breaker.phase === 'closed' && throttledUntil === 0) return before
  return {
    ...before,
    breaker: breaker.phase === 'closed' ? breaker : { ...breaker, until: breaker.until - byMs },
    throttledUntil: Math.max(0, throttledUntil - byMs),
  }
}

const DAYS_5 = 5 * 24 * 3600 * 1000

/** Whether all attempts failed for five days, measured between attempts: an idle webhook is not disabled. */
export const failedForDays = ({ failingSince }: Endpoint, failedAt: number): boolean =>
  failingSince !== null && failedAt - failingSince >= DAYS_5

/** What may be sent to an endpoint now. `until` is absent if the end of an attempt, or an event, ends the wait. */
export type SendPermission =
  { readonly kind: 'send' } | { readonly kind: 'probe' } | { readonly kind: 'wait'; readonly until?: number }

/** Concurrent attempts of a webhook: each success after a failure or a reset allows one more. */
const FIRST_LIMIT = 4
const MAX_LIMIT = 16
const MAX_SUCCESSES = MAX_LIMIT - FIRST_LIMIT
const LIMIT_HANGING = 1
/** A small correction of the clock must not end a Retry-After of a whole day. */
const SLACK_MS = 60_000

export const sendPermission = (
  { breaker, throttledUntil, hangs, successes }: Endpoint,
  inFlight: number,
  now: number,
): SendPermission => {
  // A longer wait than a Retry-After can ask for means that the clock was set back.
  if (throttledUntil > now && throttledUntil - now <= MAX_RETRY_AFTER_MS + SLACK_MS)
    return { kind: 'wait', until: throttledUntil }
  if (breaker.phase !== 'closed') {
    const isOver = breaker.until <= now || breaker.until - now > breaker.openMs
    if (!isOver) return { kind: 'wait', until: breaker.until }
    return inFlight === 0 ? { kind: 'probe' } : { kind: 'wait' }
  }
  const limit = hangs ? LIMIT_HANGING : FIRST_LIMIT + successes
  return inFlight < limit ? { kind: 'send' } : { kind: 'wait' }
}
