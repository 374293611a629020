import { AppendOutcomeUnknown, StreamContention, StoreUnavailable } from './ports/event-store-errors.js'

/**
 * Runs tasks with the same key one after another, in the order of the calls. If the event store times out, the tasks
 * queued at that time fail at once instead of each waiting for its own time-out.
 */
export class KeyedMutex {
  private readonly last = new Map<string, Promise<unknown>>()

  runExclusive<A>(key: string, task: () => Promise<A>): Promise<A> {
    const run = (this.last.get(key) ?? Promise.resolve()).then(task, (error: unknown) => {
      const unavailable = unavailability(error)
      if (unavailable !== undefined) throw unavailable
      return task()
    })
    const release = () => {
      if (this.last.get(key) === run) this.last.delete(key)
    }
    this.last.set(key, run)
    run.then(release, release)
    return run
  }

  isLocked(key: string): boolean {
    return this.last.has(key)
  }
}

/** The queued tasks have not started: for them an unknown outcome means that the store is unavailable. */
const unavailability = (error: unknown): StoreUnavailable | undefined => {
  if (error instanceof AppendOutcomeUnknown)
    return new StoreUnavailable('the event store did not answer the task before', { cause: error })
  return error instanceof StoreUnavailable && !(error instanceof StreamContention) ? error : undefined
}
