import type { Expected } from './event-store.js'
import { OperatorError } from './operator-error.js'

/** The stream is not at the expected revision. `actual` is its last revision, or `none`. */
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

/** The append exceeds {@link MAX_APPEND_BYTES}. Nothing was written. */
export class EventTooLarge extends Error {
  override readonly name = 'EventTooLarge'
}

/** No events, or data that JSON cannot represent. */
export class InvalidAppend extends Error {
  override readonly name = 'InvalidAppend'
}

/** The store cannot be reached or does not accept writes now. Nothing was written. */
export class StoreUnavailable extends OperatorError {
  override readonly name = 'StoreUnavailable'
}

/** Another process, or this one, holds the store's lock. */
export class StoreInUse extends StoreUnavailable {}

/** A writer of this process met a conflict too often. The store itself is available. */
export class StreamContention extends StoreUnavailable {}

/** The log has events of a newer release, which this release must not ignore when it decides. */
export class NewerEvents extends StoreUnavailable {}

/** An event of a stream cannot be read, and so nothing that is folded from it. The store itself is available. */
export class StreamUnreadable extends OperatorError {
  override readonly name = 'StreamUnreadable'
  constructor(
    readonly stream: string,
    reason: string,
    readonly position?: bigint,
  ) {
    super(
      `stream ${stream} cannot be read` +
        `${position === undefined ? '' : ` at position ${position} of the event log`}: ${reason}`,
    )
  }
}

/** The largest append any store must take, in bytes of serialised data and metadata. */
export const MAX_APPEND_BYTES = 1_048_576
