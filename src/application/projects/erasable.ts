import type { EventStore } from '../../kernel/ports/event-store.js'
import { Failure } from '../failure.js'

/** Refuses erasures where the log cannot carry them out. */
export const requireErasable = ({ eventStore }: { readonly eventStore: Pick<EventStore, 'erase'> }): void => {
  if (eventStore.erase === undefined)
    throw new Failure(
      'conflict',
      'Content cannot be erased here: the log is in an EventStoreDB, which cannot change events.',
    )
}
