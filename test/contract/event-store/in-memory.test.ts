import assert from 'node:assert/strict'
import { openInMemoryEventStore } from '../../../src/adapters/event-store/in-memory.js'
import { givenStreamOf } from './arbitrary-events.js'
import { collect } from './collect.js'
import { eventStoreContract } from './event-store-contract.js'

eventStoreContract('the store in memory', async () => {
  const store = openInMemoryEventStore()
  return { store, dispose: () => store.close() }
})

describe('the store in memory', () => {
  it('has 0 for the head of an empty log', async () => {
    assert.equal(await openInMemoryEventStore().head(), 0n)
  })

  it('leaves gaps between positions', async () => {
    const store = openInMemoryEventStore()
    await givenStreamOf(store, 2)

    const [first, second] = await collect(store.readAll())

    assert.ok((second?.position ?? 0n) - (first?.position ?? 0n) > 1n)
  })
})
