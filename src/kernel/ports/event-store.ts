import type { JsonObject } from '../json/json.js'

/**
 * A position in the total order of the log. Opaque: compare and store it, but do no arithmetic, since stores leave
 * gaps. Its text form is decimal digits.
 */
export type Position = bigint

/** The writer's expectation: a new stream, or its last revision. */
export type Expected = 'none' | bigint

export interface EventMetadata extends JsonObject {
  readonly correlationId: string
  readonly causationId: string
  readonly actor: string
  readonly schemaVersion: number
}

export interface NewEvent {
  /** A UUID chosen by the writer. Appending it again is idempotent. */
  readonly id: string
  readonly type: string
  readonly data: JsonObject
  readonly metadata: EventMetadata
  /** Of the event that this one copies: its salt, or, of an erased one, its whole seal. See kernel/event-seal.ts. */
  readonly seal?: Uint8Array | undefined
}

export interface RecordedEvent extends NewEvent {
  readonly stream: string
  /** Counts from 0 within the stream, without gaps. */
  readonly revision: bigint
  readonly position: Position
  readonly recordedAt: Date
  /** Length of data and metadata as JSON, in characters. */
  readonly size: number
  /** Why its data and metadata, which are empty then, cannot be read, or are not as they were written. */
  readonly unreadable?: string | undefined
}

export interface Appended {
  readonly revision: bigint
  /** Absent if the store recognised a repeat but does not know the position of the original. */
  readonly position?: Position
}

/** What the tree of the log needs of an event. */
export interface EventPlace extends Pick<RecordedEvent, 'id' | 'stream' | 'revision' | 'type' | 'position'> {
  /** SHA-256(salt ‖ data ‖ 0x0A ‖ metadata); undefined for an event that has no seal yet. */
  readonly digest: Uint8Array | undefined
}

/** What is left of an event's data. */
export interface Erasure {
  readonly position: Position
  readonly data: JsonObject
}

/** What was erased. An event that had this data already does not count. */
export interface Erased {
  readonly events: number
  /** Of data as JSON, by which the events became shorter. */
  readonly bytes: number
}

export type TailItem =
  | { readonly kind: 'event'; readonly event: RecordedEvent }
  | { readonly kind: 'caughtUp' }
  | { readonly kind: 'checkpoint'; readonly position: Position }

/**
 * The log. Appends to one stream are atomic, and durable when the promise resolves. All events have one total order.
 * Subscriptions deliver at least once from a position. Positions may have gaps; there are no appends over several
 * streams.
 *
 * Throws the classes of `event-store-errors.ts`.
 */
export interface EventStore {
  append(stream: string, expected: Expected, events: readonly NewEvent[]): Promise<Appended>
  /**
   * Appends in this order, without waiting for one before the next, with one try each. Undefined for an append that failed
   * or whose outcome is unknown. Absent if nothing is gained by it.
   */
  readonly appendInOrder?: (
    appends: readonly Parameters<EventStore['append']>[],
  ) => Promise<readonly (Appended | undefined)[]>
  /**
   * A missing stream is empty. `from` is inclusive, in the reading direction.
   *
   * @throws StreamUnreadable at an unreadable event, unless `withUnreadable`
   */
  readStream(
    stream: string,
    options?: {
      readonly from?: bigint
      readonly backwards?: boolean
      readonly limit?: number
      readonly withUnreadable?: boolean
      readonly withSeals?: boolean
    },
  ): AsyncIterable<RecordedEvent>
  /** In log order, exclusive of `after`, with unreadable events. `withSeals` is for copies and auditors. */
  readAll(options?: {
    readonly after?: Position
    readonly limit?: number
    readonly withSeals?: boolean
  }): AsyncIterable<RecordedEvent>
  /** The next events in log order, exclusive of `after`. Absent if it is no cheaper than `readAll`. */
  readonly readPlaces?: (after: Position, limit: number) => Promise<readonly EventPlace[]>
  /**
   * The events of these types, or of all, newest first, exclusive of `before`. Where the store has an index, it finds all
   * types by it but those of calls.
   */
  readBackwards(
    types: ReadonlySet<string> | undefined,
    options?: {
      readonly before?: Position | undefined
      readonly withUnreadable?: boolean
      readonly withSeals?: boolean
    },
  ): AsyncIterable<RecordedEvent>
  /**
   * Reads to the head, emits `caughtUp`, then follows live until `signal` aborts. Exclusive of `after`. With `types`,
   * only events of these types are delivered; checkpoints advance past others, which may be some events late. Unreadable
   * events are delivered too.
   */
  subscribeAll(options?: {
    readonly after?: Position
    readonly types?: ReadonlySet<string> | undefined
    readonly signal?: AbortSignal
  }): AsyncIterable<TailItem>
  /** Finds an event by id, also an unreadable one. Absent if the store would have to read the whole log. */
  readonly findEvent?: (id: string) => Promise<RecordedEvent | undefined>
  /**
   * Replaces the data of events, for ever: their digests stay, their salts are destroyed. Resolves once nothing of the former
   * data is in the files of the store. Repeating it is harmless. Absent if events cannot be changed.
   */
  readonly erase?: (erasures: AsyncIterable<Erasure>) => Promise<Erased>
  /**
   * Tests whether an append can succeed, without writing an event.
   *
   * @throws StoreUnavailable, AppendOutcomeUnknown with the reason if it cannot
   */
  checkWritable(): Promise<void>
  /** The position of the last event, 0 for an empty log. */
  head(): Promise<Position>
  close(): Promise<void>
}
