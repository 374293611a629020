import type { SendError, Sent } from '../ports/webhook-sender.js'
import type { DeadReason } from './events.js'
import { retryAfterMs } from './retry-after.js'

/** What an attempt came to, before anybody asks whether there are tries left. */
export type Classified = {
  /** Why the webhook is to be disabled, where its receiver wants no more. */
  readonly disables: 'gone' | 'receiver_asked' | null
  /** How long the receiver asks to wait, at most a day: no next attempt may be earlier. */
  readonly retryAfterMs: number | null
  /** Whether all that waits for this webhook has to wait, and not this delivery alone. */
  readonly throttles: boolean
} & (
  | { readonly outcome: 'succeeded' }
  | { readonly outcome: 'dead'; readonly reason: DeadReason }
  | {
      readonly outcome: 'retry'
      /** Whether the receiver may have the message although it did not say so: the next attempt says that. */
      readonly mayHaveArrived: boolean
    }
)

/** Failures that tell of an endpoint with too much to do. */
const OVERLOADED = new Set([429, 502, 503, 504])

/** Of the 4xx, those that time alone mends. */
const PASSING = new Set([408, 425, 429])

/**
 * Whether the answer proves that the receiver works. A connection fault, a time-out, a 5xx, 408, 425 or 429 does not;
 * any other 4xx is about the message, not about the receiver.
 */
export const isReceiverUp = (status: number | null): boolean =>
  status !== null && status < 500 && !PASSING.has(status)

/** What becomes of a delivery after one attempt. An abort by the caller is no fault of the attempt. */
export const classify = (
  sent: Pick<Sent, 'status' | 'headers' | 'error' | 'bodySent'>,
  { now, stopOn4xx }: { readonly now: Date; readonly stopOn4xx: boolean },
): Classified => {
  const { status, headers, error } = sent
  if (error?.kind === 'forbidden-address')
    return { outcome: 'dead', reason: 'forbidden_address', ...asksNothing, disables: null }
  const asked = headers['webhook-delivery']?.trim().toLowerCase()
  const disables = status === 410 ? 'gone' : asked === 'disable' ? 'receiver_asked' : null
  if (status !== null && status >= 200 && status < 300)
    return { outcome: 'succeeded', ...asksNothing, disables }
  if (disables !== null) return { outcome: 'dead', reason: disables, ...asksNothing, disables }
  const wait = retryAfterMs(headers['retry-after'], now)
  const throttles = !isReceiverUp(status) && (wait !== null || (status !== null && OVERLOADED.has(status)))
  const asks = { retryAfterMs: wait, throttles, disables }
  if (asked === 'abort-message') return { outcome: 'dead', reason: 'receiver_asked', ...asks }
  if (stopOn4xx && status !== null && status >= 400 && status < 500 && !PASSING.has(status))
    return { outcome: 'dead', reason: 'client_error', ...asks }
  return { outcome: 'retry', mayHaveArrived: status === null && sent.bodySent, ...asks }
}

const asksNothing = { retryAfterMs: null, throttles: false }

/**
 * What is said of a failure, in the log and to people: `timeout:head`, `tls:CERT_HAS_EXPIRED`. Of a refused target
 * only that it is one.
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
