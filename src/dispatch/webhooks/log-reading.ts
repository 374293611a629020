import type { DispatcherState } from '../../domain/webhooks/deliveries/dispatcher-state.js'
import type { EventStore, Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import type { Log } from '../../kernel/ports/log.js'
import { followLog } from '../../kernel/follow-log.js'
import { EventFailed } from './quarantine.js'

interface Given {
  readonly eventStore: Pick<EventStore, 'subscribeAll'>
  readonly state: Pick<DispatcherState, 'checkpoint' | 'commit' | 'rollBack'>
  readonly take: (event: RecordedEvent) => Promise<void>
  /** Told whenever there is nothing more to read for now. */
  readonly onCaughtUp: () => Promise<void>
  /** Writes into the state so much of what it has to hold before the events up to now count as read: whether that is all. */
  readonly beforeCommit: (most: number) => boolean
  /** The state is again what it was at its last commit: what is remembered of it is read anew. */
  readonly onRolledBack: () => void
  readonly log: Pick<Log, 'error'>
}

/** Reads the log into the state, from where that is, for as long as it takes. */
export interface LogReading {
  readonly position: () => Position
  /** Writes at most so many things before it: false where more are left, so that nothing is committed yet. */
  readonly commit: (most?: number) => boolean
  /** The state failed: what was folded since the last commit is folded anew. */
  readonly distrust: (error: unknown) => void
  readonly stop: () => Promise<void>
}

const COMMIT_EVERY = 1000

export const readLog = (given: Given): LogReading => {
  const { eventStore, state, take, onCaughtUp, beforeCommit, onRolledBack, log } = given
  const stopping = new AbortController()
  let position: Position = state.checkpoint() ?? 0n
  let uncommitted = 0
  /** An event is folded whole or not at all. */
  let isTaking = false
  let distrusted = false

  const distrust = (error: unknown) => {
    distrusted = true
    follower.restart(error)
  }
  const commit = (most = Infinity): boolean => {
    if (uncommitted === 0 || distrusted) return true
    if (isTaking) return false
    try {
      if (!beforeCommit(most)) return false
      state.commit(position)
      uncommitted = 0
    } catch (error) {
      distrust(error)
    }
    return true
  }
  const rollBack = () => {
    state.rollBack()
    onRolledBack()
    position = state.checkpoint() ?? 0n
    uncommitted = 0
    isTaking = false
    distrusted = false
  }
  const advance = (to: Position) => {
    position = to
    uncommitted += 1
    if (uncommitted >= COMMIT_EVERY) commit()
  }
  const follower = followLog({
    eventStore,
    after: position,
    onEvent: async (event) => {
      isTaking = true
      await take(event)
      isTaking = false
      advance(event.position)
    },
    onCheckpoint: advance,
    onCaughtUp,
    onError: (error) => {
      if (!(error instanceof EventFailed))
        log.error('dispatcher.subscription_failed', {
          error: error instanceof Error ? error.name : 'unknown',
        })
    },
    onRestart: () => {
      if (isTaking || distrusted) rollBack()
      return position
    },
    signal: stopping.signal,
  })

  return {
    position: () => position,
    commit,
    distrust,
    stop: () => {
      stopping.abort()
      return follower.stopped
    },
  }
}
