import * as E from 'fp-ts/lib/Either.js'
import type { DispatcherState } from '../../domain/webhooks/deliveries/dispatcher-state.js'
import type { RecordedEvent } from '../../kernel/ports/event-store.js'
import { webhookHealthEvents, webhookHealthStream, type WebhookHealth } from '../../domain/webhooks/health.js'
import { webhookContent, type WebhookContent } from '../../domain/webhooks/events.js'

/** A webhook as the log has it so far. */
export interface KnownWebhook {
  readonly id: string
  readonly team: string
  readonly content: WebhookContent
  readonly enabled: boolean
  /** The last revision of its stream. */
  readonly revision: number
  /** The revision at which it was last created, changed, enabled or released: attempts that began before do not count. */
  readonly resetRevision: number
  /** When the first attempt failed after the last one that proved the receiver up, in milliseconds since 1970. */
  readonly failingSince: number | null
  /** Failures of the receiver since then. */
  readonly failures: number
  readonly lastError: string | null
  /** The last `WebhookHealthChanged`, with the revision of its stream. */
  readonly reported: { readonly health: WebhookHealth; readonly revision: number; readonly at: number } | null
  /** Before then its receiver wants nothing at all, in milliseconds since 1970; 0 where it never said so. */
  readonly throttledUntil: number
  /** Its last attempt timed out. */
  readonly hangs: boolean
  /** The last request that resent messages of it, and when, in milliseconds since 1970. */
  readonly lastResend: { readonly request: string; readonly at: number } | null
}

/** What an attempt came to. */
interface AttemptNoted {
  /** The webhook's when it began. */
  readonly revision: number
  readonly receiverUp: boolean
  readonly error: string
  readonly at: number
  readonly throttledUntil: number | null
  readonly timedOut: boolean
}

/** The webhooks there are; those that were deleted are not. */
export interface Directory {
  /** The state was taken back. */
  readonly readAgain: () => void
  readonly apply: (event: RecordedEvent) => void
  readonly get: (id: string) => KnownWebhook | undefined
  readonly ids: () => Iterable<string>
  readonly noteAttempt: (id: string, attempt: AttemptNoted) => void
  readonly noteReport: (event: RecordedEvent) => void
  /** The clock was set back. */
  readonly clockSetBack: (byMs: number) => void
  /** Lifts a Retry-After. False when the same request did so within the last minute. */
  readonly noteResend: (id: string, request: string, at: number) => boolean
}

const ONE_REQUEST_MS = 60_000

const KIND = 'webhook'

export const openDirectory = (state: Pick<DispatcherState, 'all' | 'put' | 'remove'>): Directory => {
  const known = new Map<string, KnownWebhook>()

  const readAgain = () => {
    const kept = [...state.all(KIND)]
    known.clear()
    for (const [id, webhook] of kept) known.set(id, webhook as KnownWebhook)
  }
  const keep = (webhook: KnownWebhook) => {
    known.set(webhook.id, webhook)
    state.put(KIND, webhook.id, webhook)
  }

  readAgain()
  return {
    readAgain,
    apply: (event) => {
      const id = event.stream.slice('webhook-'.length)
      if (event.type === 'WebhookDeleted') {
        known.delete(id)
        state.remove(KIND, id)
        return
      }
      const after = webhookAfter(known.get(id), id, event)
      if (after !== undefined) keep(after)
    },
    get: (id) => known.get(id),
    ids: () => known.keys(),
    noteAttempt: (id, { revision, receiverUp, error, at, throttledUntil: until, timedOut }) => {
      const webhook = known.get(id)
      if (webhook === undefined || !beganAfterReset(webhook, revision)) return
      const failingSince = receiverUp ? null : (webhook.failingSince ?? at)
      const throttledUntil = Math.max(webhook.throttledUntil, until ?? 0)
      const failures = receiverUp ? 0 : webhook.failures + 1
      const lastError = receiverUp ? null : error
      const isKnown =
        receiverUp && webhook.failures === 0 && throttledUntil === webhook.throttledUntil && !webhook.hangs
      if (!isKnown) keep({ ...webhook, failingSince, failures, lastError, throttledUntil, hangs: timedOut })
    },
    noteReport: ({ stream, data, revision, recordedAt }) => {
      const webhook = known.get(stream.slice(webhookHealthStream('').length))
      const decoded = webhookHealthEvents.WebhookHealthChanged.decode(data)
      if (webhook === undefined || E.isLeft(decoded)) return
      const { id: _, team: __, ...health } = decoded.right
      keep({ ...webhook, reported: { health, revision: Number(revision), at: recordedAt.getTime() } })
    },
    clockSetBack: (byMs) => {
      for (const webhook of known.values())
        if (webhook.throttledUntil > 0)
          keep({ ...webhook, throttledUntil: Math.max(0, webhook.throttledUntil - byMs) })
    },
    noteResend: (id, request, at) => {
      const webhook = known.get(id)
      if (webhook === undefined) return false
      const { lastResend } = webhook
      if (lastResend?.request === request && Math.abs(at - lastResend.at) < ONE_REQUEST_MS) return false
      keep({ ...webhook, throttledUntil: 0, lastResend: { request, at } })
      return true
    },
  }
}

const nothingLearnt = {
  failingSince: null,
  failures: 0,
  lastError: null,
  throttledUntil: 0,
  hangs: false,
  lastResend: null,
}

/** Whether an attempt that began at a revision of the webhook began after it was last changed or enabled. */
export const beganAfterReset = ({ resetRevision }: KnownWebhook, revision: number): boolean =>
  revision >= resetRevision

const webhookAfter = (
  before: KnownWebhook | undefined,
  id: string,
  { type, data, revision }: RecordedEvent,
): KnownWebhook | undefined => {
  if (type === 'WebhookCreated' || type === 'WebhookChanged') {
    const content = webhookContent.decode(data)
    if (E.isLeft(content)) return before
    const at = { content: content.right, revision: Number(revision), resetRevision: Number(revision) }
    if (before !== undefined) return { ...before, ...nothingLearnt, ...at }
    const { team, enabled } = data
    if (typeof team !== 'string') return undefined
    return { id, team, ...at, enabled: enabled !== false, ...nothingLearnt, reported: null }
  }
  if (before === undefined) return undefined
  const seen = { ...before, revision: Number(revision) }
  if (type === 'WebhookEnabled')
    return { ...seen, ...nothingLearnt, enabled: true, resetRevision: Number(revision) }
  if (type === 'WebhookReleased')
    // It is failing until an attempt succeeds.
    return { ...seen, throttledUntil: 0, hangs: false, lastResend: null, resetRevision: Number(revision) }
  if (type === 'WebhookDisabled') return { ...seen, enabled: false }
  return seen
}

const DAYS_5 = 5 * 24 * 3600 * 1000

/**
 * Whether nothing but failures came of it for five days. The first and the last of them lie as far apart: a webhook that
 * had nothing to receive in between is not asked here before it fails again.
 */
export const failedForDays = ({ failingSince }: KnownWebhook, failedAt: number): boolean =>
  failingSince !== null && failedAt - failingSince >= DAYS_5
