import { Failure } from '../../application/failure.js'
import type { OnDisconnect } from '../../application/on-disconnect.js'

/** One completion as long as it lasts. */
export interface Leave {
  /** Aborted, with the failure that the client is told, once the completion has to end early. */
  readonly signal: AbortSignal
  /** Ends it early, with this as its failure. */
  readonly end: (failure: Failure) => void
  /** It is over: what may still be open to an upstream is let go. */
  readonly over: () => void
}

/** The completions that this process has begun and not ended. */
export interface UnderWay {
  readonly enter: (onDisconnect: OnDisconnect) => Leave
  /** Ends all that are under way, and every one that comes. */
  readonly stop: () => void
  /** Resolves once none is under way. */
  readonly idle: () => Promise<void>
}

export const clientGone = new Failure('bad-request', 'The client closed the connection.')

const stopping = new Failure('overloaded', 'The service is stopping. Try again.', { retryAfter: 1 })

/** Said once: an abort without a reason makes an exception with a stack each time. */
const isOver = new Error('the completion has ended')

export const underWay = (): UnderWay => {
  const all = new Set<AbortController>()
  let isStopping = false
  let waiters: (() => void)[] = []
  const wake = () => {
    if (all.size > 0) return
    for (const waiter of waiters) waiter()
    waiters = []
  }
  return {
    enter: (onDisconnect) => {
      const leaving = new AbortController()
      if (isStopping) leaving.abort(stopping)
      const forget = onDisconnect(() => leaving.abort(clientGone))
      all.add(leaving)
      return {
        signal: leaving.signal,
        end: (failure) => leaving.abort(failure),
        over: () => {
          all.delete(leaving)
          wake()
          forget()
          leaving.abort(isOver)
        },
      }
    },
    stop: () => {
      isStopping = true
      for (const leaving of all) leaving.abort(stopping)
    },
    idle: () =>
      new Promise((resolve) => {
        waiters.push(resolve)
        wake()
      }),
  }
}
