import {
  AccessDeniedError,
  InvalidArgumentError,
  MaxAppendSizeExceededError,
  NotLeaderError,
  StreamDeletedError,
  WrongExpectedVersionError,
} from '@eventstore/db-client'
import type { Expected } from '../../../kernel/ports/event-store.js'
import {
  ConcurrencyConflict,
  EventTooLarge,
  NewerEvents,
  StoreUnavailable,
} from '../../../kernel/ports/event-store-errors.js'

/** Codes of gRPC, as its specification numbers them. */
const INVALID_ARGUMENT = 3
const PERMISSION_DENIED = 7
const UNIMPLEMENTED = 12
const UNAUTHENTICATED = 16
const HOPELESS = new Set([INVALID_ARGUMENT, PERMISSION_DENIED, UNIMPLEMENTED, UNAUTHENTICATED])

/** The client throws raw gRPC errors too, so the code tells where the class does not. */
export const codeOf = (error: unknown): number | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'number' ? error.code : undefined

/** Whether trying again may help. */
export const mayPass = (error: unknown): boolean =>
  !(error instanceof StreamDeletedError) &&
  !(error instanceof AccessDeniedError) &&
  !(error instanceof InvalidArgumentError) &&
  !(error instanceof ForeignEvent) &&
  !(error instanceof NewerEvents) &&
  !HOPELESS.has(codeOf(error) ?? -1)

/** An event in one of our streams that something else wrote: nothing can be decided on it. */
export class ForeignEvent extends Error {
  override readonly name = 'ForeignEvent'
}

/**
 * What the store said about an append, where it said that nothing was written; undefined for errors that leave the
 * outcome open.
 */
export const refusalOf = (error: unknown, stream: string, expected: Expected): Error | undefined => {
  if (error instanceof WrongExpectedVersionError) {
    const { actualVersion } = error
    return new ConcurrencyConflict(
      stream,
      expected,
      typeof actualVersion === 'bigint' && actualVersion >= 0n ? actualVersion : 'none',
    )
  }
  if (error instanceof MaxAppendSizeExceededError)
    return new EventTooLarge('an append exceeds the size limit of the EventStoreDB', { cause: error })
  if (error instanceof StreamDeletedError)
    return new StoreUnavailable(`stream ${stream} was deleted in the EventStoreDB`, { cause: error })
  if (mayPass(error)) return undefined
  return new StoreUnavailable('the EventStoreDB does not accept writes from this user', { cause: error })
}

/** The node was not the leader: it has written nothing, and the client goes to the leader next. */
export const isNotLeader = (error: unknown): boolean => error instanceof NotLeaderError

/** A read's error as the port knows it. */
export const unavailable = (error: unknown): StoreUnavailable => {
  if (error instanceof StoreUnavailable) return error
  if (error instanceof ForeignEvent) return new StoreUnavailable(error.message, { cause: error })
  return new StoreUnavailable('the EventStoreDB cannot be read', { cause: error })
}
