import { AppendOutcomeUnknown, CrowdedStream, StoreUnavailable } from './ports/event-store-errors.js'

/** Who waits for a turn about what. */
export interface Turns {
  /**
   * Runs a task when those before it that are about the same thing have ended. Where the event store did not answer the
   * one before, those that waited behind it are not run and fail with it, so that nobody waits for many in a row.
   */
  readonly inTurn: <A>(about: string, task: () => Promise<A>) => Promise<A>
  /** Whether a task about this runs or waits. */
  readonly isTaken: (about: string) => boolean
}

/** Writers of one stream in one process would only get in each other's way; those of several do not wait. */
export const turns = (): Turns => {
  const last = new Map<string, Promise<unknown>>()
  return {
    inTurn: (about, task) => {
      const mine = (last.get(about) ?? Promise.resolve()).then(task, (error: unknown) => {
        const away = awayIn(error)
        if (away !== undefined) throw away
        return task()
      })
      const leave = () => {
        if (last.get(about) === mine) last.delete(about)
      }
      last.set(about, mine)
      mine.then(leave, leave)
      return mine
    },
    isTaken: (about) => last.has(about),
  }
}

/** What a failure says of the store to those who wait behind it; none of them has written anything. */
const awayIn = (error: unknown): StoreUnavailable | undefined => {
  if (error instanceof AppendOutcomeUnknown)
    return new StoreUnavailable('the event store did not answer the one before', { cause: error })
  return error instanceof StoreUnavailable && !(error instanceof CrowdedStream) ? error : undefined
}

/** The turns of all that share something, for as long as that is there. */
export const sharedTurns = (): ((owner: object) => Turns) => {
  const known = new WeakMap<object, Turns>()
  return (owner) => {
    const found = known.get(owner) ?? turns()
    known.set(owner, found)
    return found
  }
}
