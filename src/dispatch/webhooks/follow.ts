import type { DispatcherState } from '../../domain/webhooks/deliveries/dispatcher-state.js'
import { followLog, isInLog, type LogAnchor, type LogFollower } from '../../kernel/follow-log.js'
import type { EventStore, RecordedEvent } from '../../kernel/ports/event-store.js'
import { StreamUnreadable } from '../../kernel/ports/event-store-errors.js'
import type { Log } from '../../kernel/ports/log.js'

const COMMIT_MS = 100
const COMMIT_EVENTS = 1000
const KIND = 'log'
const KEY = 'last'

interface Following {
  readonly eventStore: Pick<EventStore, 'subscribeAll'>
  readonly state: Pick<DispatcherState, 'checkpoint' | 'commit' | 'put'>
  /** The event changes nothing, so that it needs no commit of its own. */
  readonly isIgnored: (event: RecordedEvent) => boolean
  /** Reads what the event needs, and returns the function that applies it to the state. */
  readonly prepare: (event: RecordedEvent) => Promise<() => void>
  readonly skipped: SkippedEvents
  readonly onCaughtUp: () => Promise<void>
  /** The position advanced. */
  readonly onProgress: () => void
  /** The state failed, and has half of an event: it is rolled back. */
  readonly onStateFailure: (error: unknown) => void
  readonly log: Pick<Log, 'error'>
  readonly signal: AbortSignal
}

/** Applies the log to the state from its checkpoint on, and commits it. */
export const followInto = (given: Following): LogFollower & { readonly commit: () => void } => {
  const { state, skipped, signal } = given
  let last: RecordedEvent | undefined
  let uncommitted = 0
  let hasProgress = false

  let committing: NodeJS.Timeout | undefined
  const progress = () => {
    hasProgress = true
    committing ??= setTimeout(() => {
      committing = undefined
      commit()
    }, COMMIT_MS)
    given.onProgress()
  }
  const commit = () => {
    if (!hasProgress || signal.aborted) return
    hasProgress = false
    uncommitted = 0
    try {
      if (last !== undefined) {
        const { id, stream, revision } = last
        state.put(KIND, KEY, { id, stream, revision: String(revision) })
      }
      state.commit(follower.position())
    } catch (error) {
      given.onStateFailure(error)
    }
  }
  const take = async (event: RecordedEvent): Promise<void> => {
    if (uncommitted >= COMMIT_EVENTS) commit()
    if (!skipped.has(event)) {
      const apply = await given.prepare(event).catch((error: unknown) => {
        skipped.noteFailure(event, error)
        throw error
      })
      if (signal.aborted) return
      try {
        apply()
      } catch (error) {
        skipped.noteFailure(event, error)
        // Ends this follower.
        given.onStateFailure(error)
        return
      }
    }
    last = event
    uncommitted += 1
    progress()
  }
  /** Synchronous, because most events of a busy service are calls, which are ignored. */
  const ignore = (event: RecordedEvent): undefined => {
    last = event
    progress()
  }
  const follower = followLog({
    eventStore: given.eventStore,
    after: state.checkpoint() ?? 0n,
    onEvent: (event) => (given.isIgnored(event) ? ignore(event) : take(event)),
    onCheckpoint: progress,
    onCaughtUp: given.onCaughtUp,
    onError: (error) => given.log.error('dispatcher.subscription_failed', { error: nameOf(error) }),
    signal,
  })
  signal.addEventListener('abort', () => clearTimeout(committing))
  return { ...follower, commit }
}

/** Whether the state was folded from this log. */
export const isOfLog = async (
  state: Pick<DispatcherState, 'checkpoint' | 'get'>,
  eventStore: Pick<EventStore, 'readStream' | 'head'>,
): Promise<boolean> => {
  if ((state.checkpoint() ?? 0n) > (await eventStore.head())) return false
  const anchor = state.get(KIND, KEY) as { [Key in keyof Omit<LogAnchor, 'position'>]: string } | undefined
  return anchor === undefined || isInLog(eventStore, { ...anchor, revision: BigInt(anchor.revision) })
}

/** Events that cannot be applied, because of a fault in their data or in this program: later events continue. */
export interface SkippedEvents {
  readonly has: (event: RecordedEvent) => boolean
  readonly noteFailure: (event: RecordedEvent, error: unknown) => void
  readonly count: () => number
}

const SKIPPED = 'quarantine'
const MAX_TRIES = 3

export const openSkippedEvents = (
  state: Pick<DispatcherState, 'put' | 'some'>,
  log: Pick<Log, 'error'>,
): SkippedEvents => {
  /** The last event that failed. */
  let failing = { position: -1n, tries: 0, error: '' }
  return {
    has: ({ id, type, position }) => {
      if (failing.position !== position || failing.tries < MAX_TRIES) return false
      state.put(SKIPPED, String(position), { event_id: id, type, error: failing.error })
      return true
    },
    noteFailure: ({ id, type, position }, cause) => {
      // The log or the state failed, not the event: it is tried until it succeeds.
      if (!isFault(cause)) return
      const error = nameOf(cause)
      const tries = failing.position === position ? failing.tries + 1 : 1
      failing = { position, tries, error }
      log.error(tries === MAX_TRIES ? 'dispatcher.event_quarantined' : 'dispatcher.event_failed', {
        event: id,
        position: String(position),
        type,
        error,
        tries,
      })
    },
    count: () => state.some(SKIPPED, -1).length,
  }
}

const FAULTS = [TypeError, RangeError, ReferenceError, SyntaxError, StreamUnreadable]
const isFault = (error: unknown): boolean => FAULTS.some((kind) => error instanceof kind)

/** An error's message may quote values. */
const nameOf = (error: unknown): string => (error instanceof Error ? error.name : 'unknown')
