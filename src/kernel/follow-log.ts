import type { EventStore, Position, RecordedEvent, TailItem } from './ports/event-store.js'
import { backoff } from './backoff.js'
import { within } from './within.js'

export interface LogFollower {
  /** Everything up to here was handled. */
  readonly position: () => Position
  /** Resolves to false if the position is not handled in time. */
  readonly waitFor: (position: Position, timeoutMs: number) => Promise<boolean>
  /** Reports the error and subscribes again, after the back-off. */
  readonly restart: (error: unknown) => void
  /** Resolves once the signal has ended the subscription. */
  readonly stopped: Promise<void>
}

interface Following {
  readonly eventStore: Pick<EventStore, 'subscribeAll'>
  readonly after: Position
  /** Other events only advance the position. */
  readonly types?: ReadonlySet<string>
  /** May return a promise, which is awaited before the next event. */
  readonly onEvent: (event: RecordedEvent) => unknown
  /** Unreadable events are passed over, unless they are wanted too. */
  readonly withUnreadable?: boolean
  /** The position advanced without an event. */
  readonly onCheckpoint?: (position: Position) => void
  /** The end of the log was reached; called once for each subscription. */
  readonly onCaughtUp?: () => unknown
  readonly onError: (error: unknown) => void
  /** Called before a new subscription; returns the position to continue after. */
  readonly onRestart?: () => Position
  readonly signal: AbortSignal
}

const BACKOFF = { firstMs: 100, maxMs: 5000 }

/** Handles the events of the log in order, one at a time. A subscription that fails is replaced, with back-off. */
export const followLog = (following: Following): LogFollower => {
  const {
    eventStore,
    types,
    withUnreadable = false,
    onEvent,
    onCheckpoint,
    onCaughtUp,
    onError,
    onRestart,
    signal,
  } = following
  let position = following.after
  let attempt = new AbortController()
  const restarts: unknown[] = []
  let waiters: Waiter[] = []

  const advance = (to: Position) => {
    position = to
    const reached = waiters.filter((waiter) => waiter.position <= position)
    if (reached.length === 0) return
    waiters = waiters.filter((waiter) => waiter.position > position)
    for (const waiter of reached) waiter.resolve()
  }

  /** Returns undefined when nothing is to be awaited, so that most events are handled synchronously. */
  const handle = (item: TailItem): Promise<void> | undefined => {
    if (item.kind === 'caughtUp') return waitedFor(onCaughtUp?.())
    if (item.kind === 'checkpoint') {
      if (item.position > position) {
        advance(item.position)
        onCheckpoint?.(item.position)
      }
      return undefined
    }
    const { event } = item
    // A new subscription may repeat events of the previous one.
    if (event.position <= position) return undefined
    const done = () => {
      if (!attempt.signal.aborted) advance(event.position)
    }
    if (event.unreadable !== undefined && !withUnreadable) {
      done()
      return undefined
    }
    const handled = waitedFor(onEvent(event))
    if (handled !== undefined) return handled.then(done)
    done()
    return undefined
  }

  const follow = async (): Promise<void> => {
    let failures = 0
    while (!signal.aborted) {
      try {
        if (failures > 0) position = onRestart?.() ?? position
        attempt = new AbortController()
        restarts.length = 0
        const until = AbortSignal.any([signal, attempt.signal])
        for await (const item of eventStore.subscribeAll({ after: position, types, signal: until })) {
          if (until.aborted) break
          const handled = handle(item)
          if (handled !== undefined) await handled
          failures = 0
        }
        failures += 1
        if (restarts.length > 0) onError(restarts[0])
      } catch (error) {
        failures += 1
        onError(error)
      }
      await backoff(failures, { ...BACKOFF, signal })
    }
    for (const waiter of waiters) waiter.resolve()
  }

  return {
    position: () => position,
    waitFor: async (wanted, timeoutMs) => {
      if (position >= wanted || signal.aborted) return position >= wanted
      let resolve: () => void = () => undefined
      const reached = new Promise<void>((done) => (resolve = done))
      const waiter = { position: wanted, resolve }
      waiters.push(waiter)
      await within(timeoutMs, reached)
      waiters = waiters.filter((one) => one !== waiter)
      return position >= wanted
    },
    restart: (error) => {
      restarts.push(error)
      attempt.abort()
    },
    stopped: follow(),
  }
}

const waitedFor = (result: unknown): Promise<void> | undefined =>
  result instanceof Promise ? (result as Promise<void>) : undefined

interface Waiter {
  readonly position: Position
  readonly resolve: () => void
}

/** An event by its place in the log, which identifies the log. */
export interface LogAnchor {
  readonly id: string
  readonly stream: string
  readonly revision: bigint
  readonly position: Position
}

/**
 * Whether the log has this event there. Another log has a different event at that revision, or none; a copy has it at
 * another position.
 */
export const isInLog = async (
  eventStore: Pick<EventStore, 'readStream'>,
  { id, stream, revision, position }: Omit<LogAnchor, 'position'> & Partial<LogAnchor>,
): Promise<boolean> => {
  for await (const event of eventStore.readStream(stream, { from: revision, limit: 1, withUnreadable: true }))
    return event.id === id && (position === undefined || event.position === position)
  return false
}
