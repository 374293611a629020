import type { Expected } from './event-store.js'
import { OperatorError } from './operator-error.js'

/** The stream was not where the writer expected it. `actual` is its last revision, or `none`. */
export class ConcurrencyConflict extends Error {
  override readonly name = 'ConcurrencyConflict'
  constructor(
    readonly stream: string,
    readonly expected: Expected,
    readonly actual: bigint | 'none',
  ) {
    super(`stream ${stream} is at revision ${actual}, expected ${expected}`)
  }
}

/** The append may or may not have happened: retry with the same event ids and the same expectation. */
export class AppendOutcomeUnknown extends Error {
  override readonly name = 'AppendOutcomeUnknown'
}

/** The append is over the limit of one append, {@link MAX_APPEND_BYTES}. Nothing was written. */
export class EventTooLarge extends Error {
  override readonly name = 'EventTooLarge'
}

/** The caller's events cannot be stored as they are: none given, or data that JSON cannot hold. */
export class InvalidAppend extends Error {
  override readonly name = 'InvalidAppend'
}

/** The store cannot be reached or does not accept writes now. Nothing was written. */
export class StoreUnavailable extends OperatorError {
  override readonly name = 'StoreUnavailable'
}

/** Another process, or this one, has the store open for itself alone. */
export class StoreInUse extends StoreUnavailable {}

/** Others write the stream so often that a writer of this process found no gap. The store itself answers. */
export class StreamContention extends StoreUnavailable {}

/** The log has events of a newer release. This release must not decide on a state without them. */
export class NewerEvents extends StoreUnavailable {}

/** The largest append any store must take, in bytes of serialised data and metadata. */
export const MAX_APPEND_BYTES = 1_048_576
