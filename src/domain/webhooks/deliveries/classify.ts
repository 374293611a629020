import type { SendError, SendResult } from '../../../kernel/ports/webhook-sender.js'
import type { DeadReason } from './events.js'
import { retryAfterMs } from './retry-after.js'

/** The meaning of an attempt's result, regardless of the retries left. */
export type AttemptClassification = {
  /** Why the webhook is to be disabled, if the receiver wants no more messages. */
  readonly disables: 'gone' | 'receiver_asked' | null
  /** The receiver's Retry-After, at most a day. */
  readonly retryAfterMs: number | null
} & (
  | { readonly outcome: 'succeeded' }
  | { readonly outcome: 'dead'; readonly reason: DeadReason }
  | {
      readonly outcome: 'retry'
      /**
       * Whether the receiver may have the message without having confirmed it: the next attempt says so in a header.
       */
      readonly mayHaveArrived: boolean
    }
)

/** The 4xx statuses that a retry can fix. */
const PASSING = new Set([408, 425, 429])

/**
 * Whether the response proves that the receiver works. A connection error, time-out, 5xx, 408, 425 or 429 does not;
 * any other 4xx is about the message.
 */
export const isReceiverUp = (status: number | null): boolean =>
  status !== null && status < 500 && !PASSING.has(status)

/** Classifies an attempt's result. An abort by the caller does not count as a failure. */
export const classify = (
  sent: Pick<SendResult, 'status' | 'headers' | 'error' | 'bodySent'>,
  { now, stopOn4xx }: { readonly now: Date; readonly stopOn4xx: boolean },
): AttemptClassification => {
  const { status, headers, error } = sent
  if (error?.kind === 'forbidden-address')
    return { outcome: 'dead', reason: 'forbidden_address', ...asksNothing, disables: null }
  const asked = headers['webhook-delivery']?.trim().toLowerCase()
  const disables = status === 410 ? 'gone' : asked === 'disable' ? 'receiver_asked' : null
  if (status !== null && status >= 200 && status < 300)
    return { outcome: 'succeeded', ...asksNothing, disables }
  if (disables !== null) return { outcome: 'dead', reason: disables, ...asksNothing, disables }
  const wait = retryAfterMs(headers['retry-after'], now)
  const asks = { retryAfterMs: wait, disables }
  if (asked === 'abort-message') return { outcome: 'dead', reason: 'receiver_asked', ...asks }
  if (stopOn4xx && status !== null && status >= 400 && status < 500 && !PASSING.has(status))
    return { outcome: 'dead', reason: 'client_error', ...asks }
  return { outcome: 'retry', mayHaveArrived: status === null && sent.bodySent, ...asks }
}

const asksNothing = { retryAfterMs: null }

/**
 * A failure as shown in the log and to users: `timeout:head`, `tls:CERT_HAS_EXPIRED`. For a forbidden target it
 * reveals nothing more, since details would help an attacker scan the network.
 */
export const failureText = (error: SendError): string => {
  switch (error.kind) {
    case 'forbidden-address':
    case 'forbidden-name':
      return 'address not allowed'
    case 'timeout':
      return `timeout:${error.phase}`
    case 'aborted':
      return 'aborted'
    default:
      return `${error.kind}:${error.code}`
  }
}
