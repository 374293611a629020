import type { EventStore } from '../domain/ports/event-store.js'
import { AppendOutcomeUnknown, StoreUnavailable } from '../domain/ports/event-store-errors.js'
import type { Log } from '../domain/ports/log.js'
import { failingNow } from './failing-now.js'

export interface WatchedWrites {
  readonly eventStore: EventStore
  /** Why no append can succeed now; undefined where one can. Checks the store unless an append has succeeded just now. */
  readonly blocked: () => Promise<string | undefined>
  /** Why the last read of a stream failed, where the store is to blame; undefined once one succeeds. */
  readonly unreadable: () => string | undefined
}

/** An append that succeeded this recently is proof enough. */
const RECENT_MS = 5000
/** `/health` needs no key, so that many requests to it must not cost as many writes. */
const CHECK_EVERY_MS = 1000

/** The same store, which knows, and logs as it changes, whether it takes appends and can be read. */
export const watchedWrites = (
  eventStore: EventStore,
  log: Pick<Log, 'error' | 'info'>,
  now: () => number = () => performance.now(),
): WatchedWrites => {
  const appends = failingNow(log, { failed: 'log.writes_failed', resumed: 'log.writes_resumed' })
  const reads = failingNow(log, { failed: 'log.reads_failed', resumed: 'log.reads_resumed' })
  let appendedAt = -Infinity
  let checkedAt = -Infinity
  let checking: Promise<void> | undefined

  const failed = (error: unknown) => {
    if (!(error instanceof StoreUnavailable || error instanceof AppendOutcomeUnknown)) return
    const reason = reasonOf(error)
    appends.failed(`the event log takes no writes (${reason})`, { error: error.message, reason })
  }
  const appended = () => {
    appendedAt = now()
    appends.succeeded()
  }

  const append: EventStore['append'] = (...proposed) => {
    const appending = eventStore.append(...proposed)
    appending.then(appended, failed)
    return appending
  }
  const readStream: EventStore['readStream'] = async function* (...asked) {
    try {
      yield* eventStore.readStream(...asked)
    } catch (error) {
      if (error instanceof StoreUnavailable)
        reads.failed(`the event log cannot be read (${reasonOf(error)})`, {
          error: error.message,
          reason: reasonOf(error),
        })
      throw error
    }
    reads.succeeded()
  }

  const check = async () => {
    try {
      await eventStore.checkWritable()
      appends.succeeded()
    } catch (error) {
      failed(error)
    } finally {
      checkedAt = now()
      checking = undefined
    }
  }

  return {
    eventStore: Object.assign(Object.create(eventStore) as EventStore, { append, readStream }),
    blocked: async () => {
      const isProven = appends.reason() === undefined && now() - appendedAt < RECENT_MS
      if (!isProven && now() - checkedAt >= CHECK_EVERY_MS) await (checking ??= check())
      return appends.reason()
    },
    unreadable: reads.reason,
  }
}

const reasonOf = ({ cause, name }: Error): string => codeOf(cause) ?? name

/** A code of the system or of a database. The numbers of gRPC mean nothing to an operator. */
const codeOf = (cause: unknown): string | undefined =>
  cause instanceof Error && 'code' in cause && /^[A-Z][A-Z0-9_]{0,63}$/.test(String(cause.code))
    ? String(cause.code)
    : undefined
