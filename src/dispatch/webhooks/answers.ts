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

/** What an answer, or the lack of one, means. */
export interface AnswerRead {
  readonly verdict: AttemptVerdict
  /** Its kind in a word or two, without anything that the receiver said; null where an answer came. */
  readonly error: string | null
  /** False when the answer counts for the circuit breaker and for automatic disabling. */
  readonly receiverUp: boolean
  readonly timedOut: boolean
  /** It timed out, or the receiver said that it has too much to do. */
  readonly overloaded: boolean
  /** What `Retry-After` asked for. It holds for the whole webhook unless the receiver is up. */
  readonly throttledUntil: Instant | null
  /** The receiver wants nothing any more. */
  readonly disables: 'gone' | 'receiver_asked' | null
}

/** @param now in milliseconds since 1970 */
export const readAnswer = (sent: SendResult, stopOn4xx: boolean, now: number): AnswerRead => {
  const classified = classify(sent, { now: new Date(now), stopOn4xx })
  const { retryAfterMs, throttles, disables } = classified
  const timedOut = sent.error?.kind === 'timeout'
  const until = retryAfterMs === null ? null : instantAt(now + retryAfterMs)
  return {
    verdict: verdictOf(classified, until),
    error: sent.error === null ? null : failureText(sent.error),
    receiverUp: isReceiverUp(sent.status),
    timedOut,
    overloaded: timedOut || throttles,
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
