import type { OpenDelivery } from '../delivery/state.js'
import type { Position } from './event-store.js'

/** A delivery that is not over, as the log left it. */
export interface OpenEntry {
  readonly id: string
  readonly delivery: OpenDelivery
  /** The last revision of its stream. */
  readonly revision: bigint
  /** The position of the event that scheduled it: what is older is smaller. */
  readonly order: Position
}

/** First attempts, and further ones. */
export type Turn = 'fresh' | 'retry'

/**
 * What the dispatcher has folded from the log so far. Everything can be folded again: a state that is gone, or of
 * another make, begins empty. What is written is there at once for whoever reads here, and outlives the process from the
 * next `commit` on, together with the checkpoint. Times are milliseconds since 1970.
 */
export interface DispatcherState {
  /** Undefined where nothing was folded yet. */
  readonly checkpoint: () => Position | undefined
  readonly commit: (checkpoint: Position) => void
  /** Forgets what was folded since the last commit, or everything where nothing of it can be read any more. */
  readonly rollBack: () => void
  /** Forgets everything: the log is another one. */
  readonly clear: () => void

  /** Small things by kind and key: webhooks, automations, cooldowns and what else is folded. */
  readonly put: (kind: string, key: string, value: unknown) => void
  readonly get: (kind: string, key: string) => unknown
  readonly remove: (kind: string, key: string) => void
  readonly all: (kind: string) => Iterable<readonly [key: string, value: unknown]>
  /** The first ones by key, in the order of its UTF-8 bytes, behind a key. */
  readonly some: (
    kind: string,
    limit: number,
    after?: string,
  ) => readonly (readonly [key: string, value: unknown])[]

  /**
   * A delivery that is there already is this from here on, and nobody's claim.
   *
   * @throws RangeError where one of its times is none
   */
  readonly putDelivery: (entry: OpenEntry) => void
  readonly delivery: (id: string) => OpenEntry | undefined
  readonly removeDelivery: (id: string) => void
  readonly deliveriesOf: (webhook: string, limit: number) => readonly OpenEntry[]
  readonly inFlight: () => readonly OpenEntry[]

  /**
   * Takes the delivery of a webhook that has been due longest, so that nobody takes it again until it is put anew. A first
   * attempt is due whatever the clock says, which may have been set back since.
   */
  readonly claimDue: (webhook: string, turn: Turn, now: number) => OpenEntry | undefined
  /** The one among those that are due which was scheduled first. */
  readonly claimOldest: (webhook: string, now: number) => OpenEntry | undefined
  readonly unclaim: (id: string) => void
  /** When the next one of a webhook that nobody has claimed is due. */
  readonly nextDue: (webhook: string) => number | undefined
  /** Webhooks that something waits for. */
  readonly waitingFor: () => readonly string[]
  /**
   * The oldest of a webhook's behind an order that wait for later are due now, or when the receiver asked for it unless
   * that is ignored, `limit` at most; the order of the last of them, undefined where there are none.
   */
  readonly hasten: (
    webhook: string,
    now: number,
    behind: { readonly after: Position; readonly limit: number; readonly ignoresNotBefore?: boolean },
  ) => Position | undefined
  readonly counts: () => DeliveryCounts

  readonly close: () => void
}

export interface DeliveryCounts {
  readonly pending: number
  readonly retrying: number
  readonly in_flight: number
  /** When the oldest of those that wait is, or was, due. */
  readonly oldestDue: number | undefined
}
