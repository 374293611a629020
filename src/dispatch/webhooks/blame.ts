import type { DispatcherState } from '../../domain/webhooks/deliveries/dispatcher-state.js'
import type { EventStore } from '../../kernel/ports/event-store.js'

/** The log or the state failed, not what was to be done with an event: it passes, or somebody has to mend it. */
export class Unavailable extends Error {
  override readonly name: string
  constructor(cause: unknown) {
    super('the event log or the dispatcher state failed', { cause })
    this.name = cause instanceof Error ? cause.name : 'unknown'
  }
}

const unavailable = (cause: unknown) => (cause instanceof Unavailable ? cause : new Unavailable(cause))

/** Tells failures of the log, as it is read, from all others. */
export const blamingReads = ({
  readStream,
}: Pick<EventStore, 'readStream'>): Pick<EventStore, 'readStream'> => ({
  async *readStream(...given) {
    const events = readStream(...given)[Symbol.asyncIterator]()
    try {
      for (;;) {
        const next = await events.next().catch((error: unknown) => {
          throw unavailable(error)
        })
        if (next.done === true) return
        yield next.value
      }
    } finally {
      await events.return?.()
    }
  },
})

/** Tells failures of the state from all others; that it cannot hold a value is the fault of the value. */
export const blamingState = (state: DispatcherState): DispatcherState => {
  const blaming =
    <G extends readonly unknown[], A>(work: (...given: G) => A) =>
    (...given: G): A => {
      try {
        return work(...given)
      } catch (error) {
        throw error instanceof TypeError || error instanceof RangeError ? error : unavailable(error)
      }
    }
  const { put, get, remove, all, some, putDelivery, delivery, removeDelivery, ...others } = state
  return {
    ...others,
    put: blaming(put),
    get: blaming(get),
    remove: blaming(remove),
    all: blaming(all),
    some: blaming(some),
    putDelivery: blaming(putDelivery),
    delivery: blaming(delivery),
    removeDelivery: blaming(removeDelivery),
  }
}
