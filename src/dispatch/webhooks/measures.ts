import { millisOf } from '../../domain/webhooks/deliveries/times.js'
import type { WebhookMetrics } from '../../kernel/ports/metrics.js'
import type { AttemptEnd, Claimed } from './attempt.js'

/** The metrics of the dispatcher: all its metrics are set here. */
export const measuring = (metrics: WebhookMetrics | undefined) => ({
  started: ({ delivery }: Claimed, now: number) => {
    if (delivery.attempts === 0)
      metrics?.eventToFirstAttemptSeconds.observe({}, (now - millisOf(delivery.since)) / 1000)
  },

  answered: ({ answer, sent, scheduled }: Extract<AttemptEnd, { kind: 'answered' }>, now: number) => {
    if (metrics === undefined) return
    const { result } = answer.verdict
    metrics.attempts.add({ result, class: classOf(sent.status, answer.error) })
    for (const [phase, millis] of Object.entries(sent.phases as unknown as Record<string, number | null>))
      if (millis !== null) metrics.attemptSeconds.observe({ phase }, millis / 1000)
    if (result === 'succeeded')
      metrics.eventToSuccessSeconds.observe({}, (now - millisOf(scheduled.source.recorded_at)) / 1000)
    if (sent.error?.kind === 'forbidden-address' || sent.error?.kind === 'forbidden-name')
      metrics.ssrfBlocked.add({})
  },

  behind: (events: number) => metrics?.scheduleLagEvents.set({}, events),

  unknown: () => metrics?.outcomesUnknown.add({}),

  matched: (matches: number, seconds: number) => {
    if (matches > 0) metrics?.matches.add({}, matches)
    metrics?.matchSeconds.observe({}, seconds)
  },

  suppressed: (reason: string) => metrics?.suppressed.add({ reason }),

  queues: ({ pending, retrying, inFlight, oldestDueMs, breakers, quarantined }: QueueGauges) => {
    metrics?.deliveries.set({ state: 'pending' }, pending)
    metrics?.deliveries.set({ state: 'retrying' }, retrying)
    metrics?.deliveries.set({ state: 'in_flight' }, inFlight)
    metrics?.inFlight.set({}, inFlight)
    metrics?.eventsQuarantined.set({}, quarantined)
    metrics?.oldestDueSeconds.set({}, oldestDueMs / 1000)
    for (const [state, endpoints] of Object.entries(breakers)) metrics?.breakers.set({ state }, endpoints)
  },
})

export type Measures = ReturnType<typeof measuring>

interface QueueGauges {
  readonly pending: number
  readonly retrying: number
  readonly inFlight: number
  readonly oldestDueMs: number
  readonly breakers: Readonly<Record<string, number>>
  readonly quarantined: number
}

const classOf = (status: number | null, error: string | null): string =>
  status === null ? (error?.split(':')[0] ?? 'none') : `${Math.floor(status / 100)}xx`
