import type { JsonObject } from '../json/json.js'

/**
 * A place in the total order of the log. Opaque: compare and store it, never do arithmetic with it
 * (stores leave gaps). Its text form is decimal digits.
 */
export type Position = bigint

/** What a writer believes about a stream: that it is new, or its last revision. */
export type Expected = 'none' | bigint

export interface EventMetadata extends JsonObject {
  readonly correlationId: string
  readonly causationId: string
  readonly actor: string
  readonly schemaVersion: number
}

export interface NewEvent {
  /** A UUID made by the caller: the same id appended again is the same event. */
  readonly id: string
  readonly type: string
  readonly data: JsonObject
  readonly metadata: EventMetadata
}

export interface RecordedEvent extends NewEvent {
  readonly stream: string
  /** Counts from 0 within the stream, without gaps. */
  readonly revision: bigint
  readonly position: Position
  readonly recordedAt: Date
  /** Characters of its data and metadata as JSON. */
  readonly size: number
}

export interface Appended {
  readonly revision: bigint
  /** Absent when the store recognised a repeat and cannot say where the first stands. */
  readonly position?: Position
}

export type TailItem =
  | { readonly kind: 'event'; readonly event: RecordedEvent }
  | { readonly kind: 'caughtUp' }
  | { readonly kind: 'checkpoint'; readonly position: Position }

/**
 * The log. Appends to one stream are atomic and durable when the promise resolves; all events stand in one
 * total order; subscriptions are at-least-once from a position. Contiguous positions, appends over several
 * streams and server-side filters are not promised.
 *
 * Failures are the classes of `event-store-errors.ts`.
 */
export interface EventStore {
  append(stream: string, expected: Expected, events: readonly NewEvent[]): Promise<Appended>
  /** A missing stream is empty. `from` is inclusive in the direction of reading. */
  readStream(
    stream: string,
    options?: { readonly from?: bigint; readonly backwards?: boolean; readonly limit?: number },
  ): AsyncIterable<RecordedEvent>
  /** In log order, exclusive of `after`. */
  readAll(options?: { readonly after?: Position; readonly limit?: number }): AsyncIterable<RecordedEvent>
  /** Catches up, says `caughtUp` once it has, then goes on live until `signal` aborts. Exclusive of `after`. */
  subscribeAll(options?: {
    readonly after?: Position
    readonly signal?: AbortSignal
  }): AsyncIterable<TailItem>
  /** The event with an id, whatever its stream is; not there where the store can't find one without reading the log. */
  readonly findEvent?: (id: string) => Promise<RecordedEvent | undefined>
  /**
   * Whether an append can succeed now, tried without writing an event.
   *
   * @throws StoreUnavailable, AppendOutcomeUnknown with the reason when it cannot
   */
  checkWritable(): Promise<void>
  /** The position of the last event, 0 for an empty log. */
  head(): Promise<Position>
  close(): Promise<void>
}
