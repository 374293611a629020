import type { EventStore } from '../domain/ports/event-store.js'
import { AppendOutcomeUnknown, StoreUnavailable } from '../domain/ports/event-store-errors.js'
import type { Log } from '../domain/ports/log.js'
import { failingNow } from './failing-now.js'

export interface WatchedWrites {
  readonly eventStore: EventStore
  /**
   * Why the last append failed, or the last look at a stream, which most writes begin with, where the store is to blame;
   * undefined once one succeeds.
   */
  readonly failing: () => string | undefined
}

/** The same store, of which is known, and logged as it changes, whether it takes what is written and can be read. */
export const watchedWrites = (eventStore: EventStore, log: Pick<Log, 'error' | 'info'>): WatchedWrites => {
  const now = failingNow(log, { failed: 'log.writes_failed', resumed: 'log.writes_resumed' })
  const failed = (error: unknown) => {
    if (!(error instanceof StoreUnavailable || error instanceof AppendOutcomeUnknown)) return
    const reason = reasonOf(error)
    now.failed(`the log did not take what was written last (${reason})`, { error: error.message, reason })
  }
  const looks = failingNow(log, { failed: 'log.reads_failed', resumed: 'log.reads_resumed' })
  const append: EventStore['append'] = (...proposed) => {
    const appended = eventStore.append(...proposed)
    appended.then(now.succeeded, failed)
    return appended
  }
  const readStream: EventStore['readStream'] = async function* (...asked) {
    try {
      yield* eventStore.readStream(...asked)
    } catch (error) {
      if (error instanceof StoreUnavailable)
        looks.failed(`the log could not be read (${reasonOf(error)})`, {
          error: error.message,
          reason: reasonOf(error),
        })
      throw error
    }
    looks.succeeded()
  }
  return {
    eventStore: Object.assign(Object.create(eventStore) as EventStore, { append, readStream }),
    failing: () => now.reason() ?? looks.reason(),
  }
}

const reasonOf = ({ cause, name }: Error): string => codeOf(cause) ?? name

/** Of the system or a database; the numbers of gRPC say nothing to those who read them. */
const codeOf = (cause: unknown): string | undefined =>
  cause instanceof Error && 'code' in cause && /^[A-Z][A-Z0-9_]{0,63}$/.test(String(cause.code))
    ? String(cause.code)
    : undefined
