import type { OpenDelivery } from './state.js'
import type { Position } from '../../../kernel/ports/event-store.js'

/** An open delivery as of the log. */
export interface OpenEntry {
  readonly id: string
  readonly delivery: OpenDelivery
  /** The last revision of its stream. */
  readonly revision: bigint
  /** The position of its `DeliveryScheduled`: orders deliveries by age. */
  readonly order: Position
}

/** First attempts and retries. */
export type Turn = 'fresh' | 'retry'

/**
 * The dispatcher's fold of the log. It can always be rebuilt: a missing state or one of another version starts empty.
 * Writes are visible to reads at once and durable, with the checkpoint, from the next `commit`. Times are
 * milliseconds since 1970.
 */
export interface DispatcherState {
  /** Undefined before the first commit. */
  readonly checkpoint: () => Position | undefined
  readonly commit: (checkpoint: Position) => void
  /** Discards everything since the last commit, or the whole state if it is unreadable. */
  readonly rollBack: () => void
  /** Discards the whole state, for a different log. */
  readonly clear: () => void

  /** Small records by kind and key: webhooks, automations, cooldowns and so on. */
  readonly put: (kind: string, key: string, value: unknown) => void
  readonly get: (kind: string, key: string) => unknown
  readonly remove: (kind: string, key: string) => void
  readonly all: (kind: string) => Iterable<readonly [key: string, value: unknown]>
  /** The first records with a key greater than `after`, in the order of the keys' UTF-8 bytes. */
  readonly some: (
    kind: string,
    limit: number,
    after?: string,
  ) => readonly (readonly [key: string, value: unknown])[]

  /**
   * Replaces an existing entry and releases its claim.
   *
   * @throws RangeError for an invalid time
   */
  readonly putDelivery: (entry: OpenEntry) => void
  readonly delivery: (id: string) => OpenEntry | undefined
  readonly removeDelivery: (id: string) => void
  readonly deliveriesOf: (webhook: string, limit: number) => readonly OpenEntry[]
  readonly inFlight: () => readonly OpenEntry[]

  /**
   * Claims the webhook's delivery that has been due longest, until it is put again. First attempts are always due, so
   * that a clock set back does not delay them.
   */
  readonly claimDue: (webhook: string, turn: Turn, now: number) => OpenEntry | undefined
  /**
   * Claims a delivery to probe whether the receiver works again: the newest first attempt, or else the due retry with
   * the fewest failures. So a message that always fails does not keep the breaker open.
   */
  readonly claimProbe: (webhook: string, now: number) => OpenEntry | undefined
  readonly unclaim: (id: string) => void
  /** When the next unclaimed delivery of a webhook is due. */
  readonly nextDue: (webhook: string) => number | undefined
  /** Webhooks with open deliveries. */
  readonly waitingFor: () => readonly string[]
  /**
   * Makes up to `limit` of a webhook's waiting deliveries due now, starting after an order, or at the time its
   * receiver asked for unless that is ignored. Returns the order of the last one; undefined for none.
   */
  readonly hasten: (
    webhook: string,
    now: number,
    behind: { readonly after: Position; readonly limit: number; readonly ignoresNotBefore?: boolean },
  ) => Position | undefined
  /**
   * Restarts the delays that began in the future, which means that the clock was set back. So a delivery is delayed by
   * at most its own delay more.
   */
  readonly restartWaits: (now: number) => void
  readonly counts: () => DeliveryCounts

  readonly close: () => void
}

export interface DeliveryCounts {
  readonly pending: number
  readonly retrying: number
  readonly in_flight: number
  /** The earliest due time of all open deliveries. */
  readonly oldestDue: number | undefined
}
