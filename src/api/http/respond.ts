import type { Context } from 'koa'
import { ReadTooExpensive, TooManyReads, ClickHouseUnavailable } from '../../domain/ports/clickhouse.js'
import {
  AppendOutcomeUnknown,
  EventTooLarge,
  StoreUnavailable,
} from '../../domain/ports/event-store-errors.js'
import { SecretsUnavailable, SecretUnreadable } from '../../domain/ports/secret-store.js'
import type { JsonObject } from '../../domain/json/json.js'
import { UnknownField } from '../../domain/query/unknown-field.js'
import { Failure } from '../failure.js'
import type { Answer } from '../route.js'
import { chatErrorOf, shouldRetry } from './chat-error.js'
import { STATUS } from './status.js'

export const respond = (ctx: Context, { status = 200, body, type, headers, position }: Answer): void => {
  ctx.status = status
  ctx.body = body
  if (type !== undefined) ctx.type = type
  if (headers !== undefined) ctx.set({ ...headers })
  if (position !== undefined) ctx.set('Tallytree-Position', String(position))
}

const CHAT = 'chat'

/** From here on failures of this request are told as clients of chat completions expect. */
export const tellAsChatErrors = (ctx: Context): void => {
  ctx.state[CHAT] = true
}

/** Answers a failure; false for an error that nobody foresaw, which is then a 500. */
export const respondFailure = (ctx: Context, error: unknown): boolean => {
  const failure = failureOf(error)
  ctx.status = failure === undefined ? 500 : STATUS[failure.kind]
  const told = failure ?? new Failure('overloaded', 'Internal server error')
  ctx.body = ctx.state[CHAT] === true ? chatErrorOf(told, ctx.status) : bodyOf(told)
  if (failure?.details.retryAfter !== undefined) ctx.set('Retry-After', String(failure.details.retryAfter))
  if (failure?.kind === 'unauthenticated') ctx.set('WWW-Authenticate', 'Basic realm="tallytree", Bearer')
  if (ctx.state[CHAT] === true) ctx.set('x-should-retry', String(shouldRetry(ctx.status)))
  return failure !== undefined
}

const bodyOf = ({ kind, reason, details }: Failure): JsonObject =>
  kind === 'invalid'
    ? { detail: (details.problems ?? []).map((problem) => ({ ...problem })) }
    : { reason, ...details.body }

const failureOf = (error: unknown): Failure | undefined => {
  if (error instanceof Failure) return error
  if (error instanceof UnknownField) return new Failure('forbidden', error.message)
  if (error instanceof EventTooLarge)
    return new Failure(
      'too-large',
      'What this request would record is too large for one event. Send less at once.',
    )
  if (error instanceof StoreUnavailable || error instanceof AppendOutcomeUnknown)
    return new Failure('overloaded', 'The event store does not accept writes now. Try again.', {
      retryAfter: 1,
    })
  if (error instanceof ClickHouseUnavailable)
    return new Failure('overloaded', 'Reads are not possible now. Try again.', { retryAfter: 1 })
  if (error instanceof SecretsUnavailable)
    return new Failure('overloaded', 'Secrets cannot be used now. Try again.', { retryAfter: 1 })
  if (error instanceof SecretUnreadable)
    return new Failure('overloaded', `A stored secret cannot be read: ${error.message}.`, { retryAfter: 60 })
  if (error instanceof TooManyReads)
    return new Failure('overloaded', 'Too many reads are waiting. Try again.', { retryAfter: 1 })
  if (error instanceof ReadTooExpensive)
    return error.limit === 'time'
      ? new Failure('too-slow', 'The read took too long. Ask for less, with a narrower filter.')
      : new Failure('too-costly', 'The read needs too much memory. Ask for less, with a narrower filter.')
  return undefined
}
