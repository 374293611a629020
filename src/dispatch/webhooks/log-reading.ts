import { setTimeout as sleep } from 'node:timers/promises'
import type { DispatcherState } from '../../domain/ports/dispatcher-state.js'
import type { EventStore, Position, RecordedEvent } from '../../domain/ports/event-store.js'
import type { Log } from '../../domain/ports/log.js'
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
const AGAIN_MS = 1000
const EVENT_AGAIN_MS = 100

export const readLog = (given: Given): LogReading => {
  const { eventStore, state, take, onCaughtUp, beforeCommit, onRolledBack, log } = given
  const stopping = new AbortController()
  let attempt = new AbortController()
  let position: Position = state.checkpoint() ?? 0n
  let uncommitted = 0
  /** An event is folded whole or not at all. */
  let isTaking = false
  let distrusted: { readonly error: unknown } | undefined

  const distrust = (error: unknown) => {
    distrusted ??= { error }
    attempt.abort()
  }
  const commit = (most = Infinity): boolean => {
    if (uncommitted === 0 || distrusted !== undefined) return true
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
    distrusted = undefined
  }
  const read = async (signal: AbortSignal) => {
    for await (const item of eventStore.subscribeAll({ after: position, signal })) {
      if (signal.aborted) return
      if (item.kind === 'caughtUp') await onCaughtUp()
      else {
        isTaking = true
        if (item.kind === 'event') await take(item.event)
        isTaking = false
        position = item.kind === 'event' ? item.event.position : item.position
        uncommitted += 1
        if (uncommitted >= COMMIT_EVERY) commit()
      }
    }
  }
  const pause = (ms: number) => sleep(ms, undefined, { signal: stopping.signal }).catch(() => undefined)
  const again = async (error: unknown) => {
    const isOfEvent = error instanceof EventFailed
    if (!isOfEvent)
      log.error('dispatcher.subscription_failed', { error: error instanceof Error ? error.name : 'unknown' })
    await pause(isOfEvent ? EVENT_AGAIN_MS : AGAIN_MS)
  }
  const follow = async () => {
    while (!stopping.signal.aborted)
      try {
        attempt = new AbortController()
        if (isTaking || distrusted !== undefined) rollBack()
        await read(AbortSignal.any([stopping.signal, attempt.signal]))
        if (distrusted !== undefined) await again(distrusted.error)
        else await pause(AGAIN_MS)
      } catch (error) {
        await again(error)
      }
  }
  const following = follow()

  return {
    position: () => position,
    commit,
    distrust,
    stop: () => {
      stopping.abort()
      return following
    },
  }
}
