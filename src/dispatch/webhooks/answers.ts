import type { Instant } from '../../kernel/codec/instant.js'
import {
  classify,
  failureText,
  isReceiverUp,
  type AttemptClassification,
} from '../../domain/webhooks/deliveries/classify.js'
import type { AttemptVerdict } from '../../domain/webhooks/deliveries/commands.js'
import { instantAt } from '../../domain/webhooks/deliveries/times.js'
import type { SendResult } from '../../kernel/ports/webhook-sender.js'

/** The meaning of an answer, or of its absence. */
export interface AnswerRead {
  readonly verdict: AttemptVerdict
  /** The kind of failure, without text of the receiver; null if there was an answer. */
  readonly error: string | null
  /** False when the answer counts for the circuit breaker and for automatic disabling. */
  readonly receiverUp: boolean
  readonly timedOut: boolean
  /** From `Retry-After`. It holds for the whole webhook unless the receiver is up. */
  readonly throttledUntil: Instant | null
  /** Why the receiver wants no more messages. */
  readonly disables: 'gone' | 'receiver_asked' | null
}

/** @param now in milliseconds since 1970 */
export const readAnswer = (sent: SendResult, stopOn4xx: boolean, now: number): AnswerRead => {
  const classified = classify(sent, { now: new Date(now), stopOn4xx })
  const { retryAfterMs, disables } = classified
  const timedOut = sent.error?.kind === 'timeout'
  const until = retryAfterMs === null ? null : instantAt(now + retryAfterMs)
  return {
    verdict: verdictOf(classified, until),
    error: sent.error === null ? null : failureText(sent.error),
    receiverUp: isReceiverUp(sent.status),
    timedOut,
    throttledUntil: until,
    disables,
  }
}

const verdictOf = (classified: AttemptClassification, notBefore: Instant | null): AttemptVerdict => {
  switch (classified.outcome) {
    case 'succeeded':
      return { result: 'succeeded' }
    case 'dead':
      return { result: 'dead', reason: classified.reason }
    case 'retry':
      return { result: 'failed', notBefore }
    default:
      return classified satisfies never
  }
}
