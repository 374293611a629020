import { SLOW_READER, UpstreamFault, type FaultKind } from '../../domain/gateway/upstreams/upstream-client.js'
import type { Json } from '../../kernel/json/json.js'
import type { Redact } from '../../domain/secrets/redact-secrets.js'
import { Failure, type FailureKind } from '../../application/failure.js'
import { errorWords, type ErrorWords } from '../answer/reported-error.js'

/** Clients handle an overloaded upstream on its own. */
const OVERLOADED = 529

/** Statuses that the client gets unchanged, because it can correct its request. Others become 502, except for `OVERLOADED`. */
const PASSED_ON: Readonly<Record<number, FailureKind>> = {
  400: 'bad-request',
  413: 'too-large',
  422: 'invalid',
  429: 'rate-limited',
}

/** Statuses for which a retry is useless. */
const FINAL = new Set([400, 401, 402, 403, 404, 405, 409, 415, 422, 451])

const isQuotaUsedUp = ({ type, code }: UpstreamError): boolean =>
  type === 'insufficient_quota' || code === 'insufficient_quota'

/** The failure that a client sees for an upstream's error status. */
export const failureOfStatus = (
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Json | undefined,
  redact: Redact,
): Failure => {
  const kind = PASSED_ON[status]
  const error = errorIn(body, redact)
  const { message, type, code, param } = error
  const answered = `The upstream answered with status ${status}`
  const isFinal = FINAL.has(status) || isQuotaUsedUp(error)
  if (kind === undefined)
    return upstreamFailed(answered, message, isFinal, {
      isOverloaded: status === OVERLOADED,
      retryAfter: headers['retry-after'],
    })
  return new Failure(kind, message ?? `${answered}.`, {
    reasonWithoutQuote: `${answered}.`,
    isFinal,
    ...(type === undefined ? {} : { type }),
    ...(code === undefined ? {} : { code }),
    ...(param === undefined ? {} : { param }),
    ...(kind === 'rate-limited' ? { retryAfter: secondsIn(headers['retry-after']) } : {}),
  })
}

/** The failure that a client sees for an error that an upstream reports in place of an answer, or within one. */
export const failureOfError = (body: Json, redact: Redact): Failure => {
  const { status } = errorWords(body)
  if (status !== undefined && PASSED_ON[status] !== undefined)
    return failureOfStatus(status, {}, body, redact)
  const error = errorIn(body, redact)
  const isOverloaded = status === OVERLOADED || error.type === 'overloaded_error'
  return upstreamFailed('The upstream reported an error', error.message, isQuotaUsedUp(error), {
    isOverloaded,
  })
}

const upstreamFailed = (
  what: string,
  message: string | undefined,
  isFinal: boolean,
  { isOverloaded, retryAfter }: { readonly isOverloaded: boolean; readonly retryAfter?: string | undefined },
): Failure =>
  new Failure(
    isOverloaded ? 'upstream-overloaded' : 'upstream-failed',
    message === undefined ? `${what}.` : `${what}: ${message}`,
    {
      code: 'upstream_error',
      reasonWithoutQuote: `${what}.`,
      isFinal,
      ...(retryAfter === undefined ? {} : { retryAfter: secondsIn(retryAfter) }),
    },
  )

const LONGEST_WAIT = 3600

/** Whole seconds to wait, at least one, of a number or a date (RFC 9110, 10.2.3). */
const secondsIn = (header = ''): number => {
  const seconds = /^\s*\d+(\.\d+)?\s*$/.test(header)
    ? Number(header)
    : (Date.parse(header) - Date.now()) / 1000
  return Number.isNaN(seconds) ? 1 : Math.min(Math.max(1, Math.ceil(seconds)), LONGEST_WAIT)
}

type UpstreamError = Omit<ErrorWords, 'status'>

/** Characters of a message that are passed on, and characters that are searched for the credential. */
const MOST_CHARACTERS = 2000
const MOST_SEARCHED = 16_384

/** The error in an upstream's answer, redacted and cut. */
const errorIn = (body: Json | undefined, redact: Redact): UpstreamError =>
  Object.fromEntries(
    Object.entries(body === undefined ? {} : errorWords(body)).flatMap(([key, text]) => {
      if (typeof text !== 'string') return []
      const redacted = redact(text.trim().slice(0, MOST_SEARCHED))
      const cut = redacted.length > MOST_CHARACTERS ? `${redacted.slice(0, MOST_CHARACTERS)}…` : redacted
      return cut === '' ? [] : [[key, cut.toWellFormed()]]
    }),
  )

export const slowClient = new Failure('bad-request', 'The client did not read the response in time.')

export const failureOfFault = ({ kind, code }: UpstreamFault): Failure => {
  if (code === SLOW_READER) return slowClient
  return kind === 'timeout'
    ? new Failure('upstream-too-slow', `The upstream timed out (${code}).`, { code: 'upstream_timeout' })
    : new Failure('upstream-failed', FAULTS[kind], { code: 'upstream_error' })
}

const FAULTS: Readonly<Record<Exclude<FaultKind, 'timeout'>, string>> = {
  'forbidden-address':
    'The address of the upstream is not allowed. The operator can allow its network with TALLYTREE_UPSTREAM_ALLOW_CIDRS.',
  dns: "The upstream's host name could not be resolved.",
  connect: 'The upstream could not be reached.',
  tls: 'The TLS handshake with the upstream failed.',
  reset: 'The upstream closed the connection before the response was complete.',
  protocol: 'The upstream sent an invalid HTTP response.',
  aborted: 'The request to the upstream was aborted.',
}

/** The failure of a completion: the reason of an abort, or what was thrown. Undefined for an unexpected error. */
export const toFailure = (error: unknown, signal: AbortSignal): Failure | undefined => {
  if (signal.aborted && signal.reason instanceof Failure) return signal.reason
  if (error instanceof UpstreamFault) return failureOfFault(error)
  return error instanceof Failure ? error : undefined
}

export const invalidUpstreamResponse = (why: string): Failure =>
  new Failure('upstream-failed', `The upstream's response is not valid: ${why}.`, { code: 'upstream_error' })

/** Not the fault of the upstream, so its health does not count it. */
export const memoryUsedUp = new Failure(
  'overloaded',
  "The upstream's response exceeds what is left of the team's share of the memory. Try again, with fewer large answers at a time.",
  { code: 'upstream_error', retryAfter: 5 },
)
