import { openInMemoryEventStore } from '../../../src/adapters/event-store/in-memory.js'
import { sharedTail } from '../../../src/adapters/event-store/shared-tail.js'
import { eventStoreContract } from './event-store-contract.js'

eventStoreContract('a store whose followers share a subscription', async () => {
  const store = openInMemoryEventStore()
  return {
    store: { ...store, subscribeAll: sharedTail((options) => store.subscribeAll(options)) },
    dispose: () => store.close(),
  }
})
