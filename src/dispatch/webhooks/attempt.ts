import type { Clock } from '../../kernel/ports/clock.js'
import type { AttemptObservation, AttemptVerdict } from '../../domain/webhooks/deliveries/commands.js'
import { deliveryDecider } from '../../domain/webhooks/deliveries/decider.js'
import {
  deliveryStream,
  type DeliveryEvent,
  type DeliveryScheduled,
} from '../../domain/webhooks/deliveries/events.js'
import type { WaitingDelivery } from '../../domain/webhooks/deliveries/state.js'
import { instantAt } from '../../domain/webhooks/deliveries/times.js'
import type { AttemptRecord } from '../../kernel/ports/attempt-records.js'
import type { Appended, Position } from '../../kernel/ports/event-store.js'
import { ConcurrencyConflict } from '../../kernel/ports/event-store-errors.js'
import type { SendResult, WebhookSender } from '../../kernel/ports/webhook-sender.js'
import { readAnswer, type AnswerRead } from './answers.js'
import type { Endpoint } from './endpoint.js'
import type { Outgoing, Prepared } from './message.js'
import { appendEvent, type AppendDeps } from './append-event.js'

export interface AttemptDeps extends AppendDeps {
  readonly clock: Clock
  readonly sender: WebhookSender
  readonly instance: string
  readonly scheduled: (id: string) => Promise<DeliveryScheduled | undefined>
  readonly webhook: (id: string) => Endpoint | undefined
  readonly prepare: (outgoing: Outgoing) => Promise<Prepared>
  readonly keep: (attempt: AttemptRecord) => void
}

export interface Claimed {
  readonly id: string
  readonly revision: bigint
  readonly delivery: WaitingDelivery
}

/** How an attempt ended. */
export type AttemptEnd =
  /** Another dispatcher has it, or it is over: nothing was sent. */
  | { readonly kind: 'fenced' }
  /** Its start could not be appended, or it was aborted before: nothing was sent. */
  | { readonly kind: 'postponed' }
  /** It was aborted, or its result could not be appended. */
  | { readonly kind: 'unknown' }
  /** No message could be made. */
  | { readonly kind: 'unsent'; readonly position: Position | undefined }
  | {
      readonly kind: 'answered'
      /** Of the result in the log. */
      readonly position: Position | undefined
      readonly answer: AnswerRead
      readonly sent: SendResult
      readonly scheduled: DeliveryScheduled
      /** The webhook's, when the attempt started. */
      readonly webhookRevision: number
    }

const USUAL_TIMEOUT_S = 20
/** For the appends of its start and its result. */
const LEEWAY_MS = 2000

/**
 * One attempt. Appends `AttemptStarted` at the expected revision before it sends, so that two dispatchers never send the
 * same attempt.
 */
export const attempt = async (
  given: AttemptDeps,
  { id, revision, delivery }: Claimed,
  webhook: Endpoint,
  signal: AbortSignal,
  /** Called before the result is appended. */
  onAnswer: (answer: AnswerRead) => void,
): Promise<AttemptEnd> => {
  const scheduled = await given.scheduled(id)
  if (scheduled === undefined) return { kind: 'fenced' }
  const cause = scheduled.source.event_id
  const stream = deliveryStream(id)
  const timeoutMs = (webhook.content.timeout_s ?? USUAL_TIMEOUT_S) * 1000
  const began = performance.now()
  const startedAt = given.clock.now().getTime()
  const deadline = startedAt + timeoutMs + LEEWAY_MS
  const [started] = deliveryDecider.decide(delivery, {
    type: 'StartAttempt',
    deliveryId: id,
    instance: given.instance,
    startedAt: instantAt(startedAt),
    deadlineAt: instantAt(deadline),
    webhookRevision: webhook.revision,
  }).events
  if (started === undefined) return { kind: 'fenced' }
  if (signal.aborted) return { kind: 'postponed' }
  try {
    await appendEvent(given, stream, revision, started, cause, { tries: 2 })
  } catch (error) {
    return { kind: error instanceof ConcurrencyConflict ? 'fenced' : 'postponed' }
  }

  const inFlight = deliveryDecider.evolve(delivery, started)
  const number = delivery.attempts + 1
  // Until the deadline no dispatcher records the outcome as unknown, so a known one can still be appended.
  const keepTrying = () => !signal.aborted && performance.now() - began < timeoutMs + LEEWAY_MS
  const appendEnd = async (event: DeliveryEvent | undefined): Promise<Appended | undefined> => {
    if (event === undefined) return undefined
    try {
      return await appendEvent(given, stream, revision + 1n, event, cause, { keepTrying })
    } catch {
      return undefined
    }
  }
  const finish = (verdict: AttemptVerdict, observed: AttemptObservation, finishedAt: number) => {
    const waitsS = webhook.content.retry_waits_s
    const command = { deliveryId: id, attempt: number, finishedAt: instantAt(finishedAt), verdict, waitsS }
    return appendEnd(
      deliveryDecider.decide(inFlight, { type: 'FinishAttempt', ...command, observed }).events[0],
    )
  }

  const prepared = await given.prepare({
    scheduled,
    webhook,
    attempt: number,
    mayBeDuplicate: delivery.maybeArrived,
    sentAt: given.clock.now().getTime(),
  })
  if (prepared.kind === 'unready') {
    const end = await finish(prepared.verdict, unsent(prepared.error), given.clock.now().getTime())
    return end === undefined ? { kind: 'unknown' } : { kind: 'unsent', position: end.position }
  }
  const left = timeoutMs + LEEWAY_MS - (performance.now() - began)
  const sent = await given.sender.send(
    { timeoutMs: Math.max(1, Math.min(timeoutMs, left)), ...prepared.message },
    signal,
  )
  const now = given.clock.now().getTime()
  if (sent.error?.kind === 'aborted') {
    const { events } = deliveryDecider.decide(inFlight, {
      type: 'LoseAttempt',
      deliveryId: id,
      attempt: number,
      now: instantAt(now),
      waitsS: webhook.content.retry_waits_s,
    })
    await appendEnd(events[0])
    return { kind: 'unknown' }
  }
  const answer = readAnswer(sent, webhook.content.stop_on_4xx === true, now)
  onAnswer(answer)
  const isGone = given.webhook(webhook.id) === undefined
  const verdict: AttemptVerdict =
    isGone && answer.verdict.result === 'failed'
      ? { result: 'dead', reason: 'webhook_deleted' }
      : answer.verdict
  given.keep({
    deliveryId: id,
    attempt: number,
    endedAt: now,
    body: prepared.redacted,
    status: sent.status,
    ...prepared.shown(sent),
  })
  const end = await finish(
    verdict,
    {
      phases: { ...sent.phases },
      status: sent.status,
      error: answer.error,
      body_digest: prepared.digest,
      body_bytes: prepared.message.body.byteLength,
      peer: sent.peer,
      body_sent: sent.bodySent,
      throttled_until: answer.throttledUntil,
    },
    now,
  )
  if (end === undefined) return { kind: 'unknown' }
  const { position } = end
  return { kind: 'answered', position, answer, sent, scheduled, webhookRevision: webhook.revision }
}

const unsent = (error: string): AttemptObservation => ({
  phases: {},
  status: null,
  error,
  body_digest: null,
  body_bytes: null,
  peer: null,
  body_sent: false,
  throttled_until: null,
})
