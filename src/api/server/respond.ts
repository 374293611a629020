import type { IncomingHttpHeaders } from 'node:http'
import { availableParallelism, loadavg } from 'node:os'
import type { Context } from 'koa'
import { problemJson } from '../../kernel/codec/problem.js'
import { MemoryExhausted } from '../../kernel/memory-account.js'
import { BlobDamaged, BlobsUnavailable } from '../../kernel/ports/blobs.js'
import { BucketUnavailable } from '../../kernel/ports/bucket.js'
import {
  ClickHouseUnavailable,
  ReadAbandoned,
  ReadTooExpensive,
  TooManyReads,
} from '../../kernel/ports/clickhouse.js'
import {
  AppendOutcomeUnknown,
  EventTooLarge,
  StoreUnavailable,
  StreamUnreadable,
} from '../../kernel/ports/event-store-errors.js'
import { SecretsUnavailable, SecretUnreadable } from '../../kernel/ports/secret-store.js'
import { holdsDigits } from '../../kernel/json/digits.js'
import { isJsonObject, type JsonObject } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import { InvalidQuery, UnknownField } from '../../domain/query/errors.js'
import { Failure, invalidField } from '../../application/failure.js'
import type { AnyRoute, RouteResponse } from './route.js'
import { anthropicErrorOf, openAiErrorOf, shouldRetry } from '../../gateway/endpoints/errors.js'
import { encodingOf, JSON_TYPE, otlpStatusOf, statusResponse } from '../otel/response.js'
import { STATUS } from '../../application/failure-status.js'

export const respond = (
  ctx: Context,
  { status = 200, body, type, headers, position }: RouteResponse,
): void => {
  ctx.status = status
  if (isPlain(body) && holdsDigits(body)) {
    // Koa's own serialiser would lose digits of large integers.
    ctx.body = jsonText(body)
    ctx.type = 'json'
  } else ctx.body = body
  if (type !== undefined) ctx.type = type
  if (headers !== undefined) ctx.set({ ...headers })
  if (position !== undefined) ctx.set('Tallytree-Position', String(position))
  setProcessingTime(ctx)
}

const isPlain = (body: unknown): body is JsonObject =>
  isJsonObject(body) && Object.getPrototypeOf(body) === Object.prototype

type ErrorFormat = NonNullable<AnyRoute['errorFormat']>

/** Whether the client is one of Anthropic's API, which shares paths with OpenAI's. */
export const asksAnthropic = (headers: IncomingHttpHeaders): boolean =>
  headers['anthropic-version'] !== undefined

const FORMAT = 'errorFormat'
const SINCE = 'since'

/** Responds to failures in this format from here on. */
export const respondAs = (ctx: Context, format: ErrorFormat): void => {
  ctx.state[FORMAT] = format
  ctx.state[SINCE] ??= performance.now()
}

const formatOf = (ctx: Context): ErrorFormat | undefined => ctx.state[FORMAT] as ErrorFormat | undefined

const isOpenAi = (format: ErrorFormat | undefined): boolean => format === 'chat' || format === 'openai'

const respondOtlpFailure = (ctx: Context, failure: Failure | undefined): void => {
  const { status, code, message, retryAfter } = otlpStatusOf(failure)
  const encoding = encodingOf(ctx.req.headers['content-type']) ?? JSON_TYPE
  ctx.status = status
  if (retryAfter !== undefined) ctx.set('Retry-After', String(retryAfter))
  ctx.body = statusResponse(encoding, code, message)
  ctx.type = encoding
}

const setProcessingTime = (ctx: Context): void => {
  if (isOpenAi(formatOf(ctx)))
    ctx.set('openai-processing-ms', String(Math.round(performance.now() - (ctx.state[SINCE] as number))))
}

/** The body in the format of a model provider; undefined in other formats. */
const providerErrorOf = (ctx: Context, told: Pick<Failure, 'reason' | 'details'>): JsonObject | undefined => {
  const format = formatOf(ctx)
  if (format === 'anthropic') return anthropicErrorOf(told, ctx.status, ctx.response.get('x-request-id'))
  return isOpenAi(format) ? openAiErrorOf(told, ctx.status) : undefined
}

/** Clients of model providers expect `Retry-After` with these. */
const RETRYABLE = new Set([STATUS['rate-limited'], STATUS.overloaded, STATUS['upstream-overloaded']])

/** Responds with a failure. Returns false for an unexpected error, which is a 500. */
export const respondFailure = (ctx: Context, error: unknown): boolean => {
  const failure = failureOf(error)
  const format = formatOf(ctx)
  ctx.status = failure === undefined ? 500 : STATUS[failure.kind]
  if (ctx.status === STATUS.invalid && (format === 'openai' || format === 'anthropic'))
    ctx.status = STATUS['bad-request']
  const told = failure ?? new Failure('overloaded', 'Internal server error')
  const ofProvider = providerErrorOf(ctx, told)
  ctx.body = ofProvider ?? bodyOf(told)
  if (format === 'graphql' && told.kind !== 'invalid')
    ctx.body = { ...bodyOf(told), errors: [{ message: told.reason }] }
  ctx.set({ ...failure?.details.headers })
  const defaultWait = ofProvider !== undefined && RETRYABLE.has(ctx.status) ? 1 : undefined
  const retryAfter = failure?.details.retryAfter ?? defaultWait
  if (retryAfter !== undefined) ctx.set('Retry-After', String(retryAfter))
  if (failure?.kind === 'unauthenticated') ctx.set('WWW-Authenticate', 'Basic realm="tallytree", Bearer')
  if (ofProvider !== undefined)
    ctx.set('x-should-retry', String(failure?.details.isFinal !== true && shouldRetry(ctx.status)))
  setProcessingTime(ctx)
  if (format === 'otlp') respondOtlpFailure(ctx, failure)
  return failure !== undefined
}

/** Responds to a path or method without a route. `code` is for clients of OpenAI's API. */
export const respondUnrouted = (
  ctx: Context,
  status: 404 | 405 | 426,
  code: string,
  reason: string,
): void => {
  ctx.status = status
  const ofProvider = providerErrorOf(ctx, { reason, details: { code } })
  ctx.body = ofProvider ?? { reason }
  if (ofProvider !== undefined) ctx.set('x-should-retry', 'false')
  setProcessingTime(ctx)
}

const bodyOf = ({ kind, reason, details }: Failure): JsonObject =>
  kind === 'invalid' ? { detail: (details.problems ?? []).map(problemJson) } : { reason, ...details.body }

/** Undefined for an unexpected error. */
export const failureOf = (error: unknown): Failure | undefined => {
  if (error instanceof Failure) return error
  if (error instanceof UnknownField) return new Failure('forbidden', error.message)
  if (error instanceof InvalidQuery)
    return invalidField(['query'], 'value_error', `Value error, ${error.message}`)
  if (error instanceof EventTooLarge)
    return new Failure(
      'too-large',
      'The request would append more than 1 MiB to the event log. Nothing was written. Split it into smaller requests.',
    )
  if (error instanceof StoreUnavailable || error instanceof AppendOutcomeUnknown)
    return new Failure('overloaded', 'The event store is unavailable. Try again.', { retryAfter: 1 })
  if (error instanceof StreamUnreadable || error instanceof BlobDamaged)
    return new Failure('conflict', `${sentence(error.message)} Repeating the request does not help.`, {
      isFinal: true,
    })
  if (error instanceof BlobsUnavailable)
    return new Failure('overloaded', `${sentence(error.message)} Try again.`, { retryAfter: 1 })
  if (error instanceof BucketUnavailable)
    return new Failure('overloaded', `The bucket failed: ${error.reason}. Try again.`, { retryAfter: 1 })
  if (error instanceof ClickHouseUnavailable)
    return new Failure('overloaded', 'The read database is unavailable. Try again.', { retryAfter: 1 })
  if (error instanceof SecretsUnavailable)
    return new Failure('overloaded', 'The secret store is unavailable. Try again.', { retryAfter: 1 })
  if (error instanceof SecretUnreadable)
    return new Failure('overloaded', `Cannot read a stored secret: ${error.message}.`, { retryAfter: 60 })
  if (error instanceof ReadAbandoned) return new Failure('overloaded', 'The client closed the connection.')
  if (error instanceof TooManyReads)
    return new Failure('overloaded', 'Too many reads are queued. Try again.', { retryAfter: 1 })
  if (error instanceof MemoryExhausted)
    return new Failure(
      'overloaded',
      "Other requests use up the team's share of the memory. Try again, with fewer large requests at a time.",
      { retryAfter: 5 },
    )
  if (error instanceof ReadTooExpensive)
    return error.limit === 'time'
      ? timedOut(loadavg()[0]! / availableParallelism())
      : new Failure('too-costly', 'The read exceeded its memory limit. Narrow the filter.')
  return undefined
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

/** Where more threads wait for a CPU than run, the read may be small. */
export const timedOut = (loadPerCpu: number): Failure =>
  loadPerCpu > 2
    ? new Failure('overloaded', 'The read timed out on a busy machine. Try again.', { retryAfter: 10 })
    : new Failure('too-slow', 'The read timed out. Narrow the filter.')
