import type { ServiceError } from '@grpc/grpc-js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import type statuses from '@eventstore/db-client/generated/status_pb.js'
import type { Expected } from '../../../kernel/ports/event-store.js'
import {
  ConcurrencyConflict,
  EventTooLarge,
  StoreUnavailable,
  StreamUnreadable,
} from '../../../kernel/ports/event-store-errors.js'

/** Codes of gRPC: INVALID_ARGUMENT, PERMISSION_DENIED, UNIMPLEMENTED, UNAUTHENTICATED. */
const REFUSED = new Set([3, 7, 12, 16])

const isServiceError = (error: unknown): error is ServiceError =>
  error instanceof Error && 'code' in error && 'metadata' in error

/** The kind of an error that the server names in a trailer. */
const exceptionOf = (error: unknown): string | undefined =>
  isServiceError(error) ? error.metadata.get('exception')[0]?.toString() : undefined

/** Whether the user may not do it, or the server never can. */
export const isRefused = (error: unknown): boolean =>
  exceptionOf(error) === 'access-denied' || (isServiceError(error) && REFUSED.has(error.code))

/** The errors of gRPC for a call that it has not sent. */
const NOT_STARTED = /^(No connection established|Name resolution failed|Channel closed before)/

/** The call did not reach a node, or one that is not the leader and has written nothing. The next channel is another. */
export const isNotSent = (error: unknown): boolean =>
  exceptionOf(error) === 'not-leader' || (isServiceError(error) && NOT_STARTED.test(error.details))

export const isStreamDeleted = (error: unknown): boolean => exceptionOf(error) === 'stream-deleted'

/** An error of the port stays as it is. */
export const readFailure = (error: unknown): Error => {
  if (error instanceof StoreUnavailable || error instanceof StreamUnreadable) return error
  const reason = isRefused(error)
    ? 'the user of EVENTSTORE_URL may not read $all in the EventStoreDB'
    : 'the EventStoreDB cannot be read'
  return new StoreUnavailable(reason, { cause: error })
}

export const deletedStream = (stream: string): StreamUnreadable =>
  new StreamUnreadable(stream, 'it was deleted in the EventStoreDB')

/** Why an append was refused, and nothing was written; an error that is none of the port's if the outcome is open. */
export const refusalOf = (refusal: statuses.Status, stream: string, expected: Expected): Error => {
  const details = refusal.getDetails()
  switch (details?.getTypeName()) {
    case 'event_store.client.WrongExpectedVersion': {
      const wrong = shared.WrongExpectedVersion.deserializeBinary(details.getValue_asU8())
      const actual = BigInt(wrong.hasCurrentStreamRevision() ? wrong.getCurrentStreamRevision() : -1)
      return new ConcurrencyConflict(stream, expected, BigInt.asIntN(64, actual) < 0n ? 'none' : actual)
    }
    case 'event_store.client.StreamDeleted':
      return deletedStream(stream)
    case 'event_store.client.MaximumAppendSizeExceeded':
      return new EventTooLarge('an append exceeds the size limit of the EventStoreDB')
    case 'event_store.client.AccessDenied':
      return notWritable(undefined)
    default:
      return new Error(`the EventStoreDB responded: ${refusal.getMessage()}`)
  }
}

export const notWritable = (cause: unknown): StoreUnavailable =>
  new StoreUnavailable('the EventStoreDB does not accept writes from this user', { cause })
