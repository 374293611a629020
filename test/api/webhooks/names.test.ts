import assert from 'node:assert/strict'
import { openInMemoryEventStore } from '../../../src/adapters/event-store/in-memory.js'
import { rosterOf } from '../../../src/application/webhooks/current-state.js'
import { confirmName, releaseName, takeName } from '../../../src/application/webhooks/names.js'
import { ownerOf } from '../../../src/domain/webhooks/names/names.js'
import { newEvent } from '../../../src/kernel/event.js'
import type { EventStore } from '../../../src/kernel/ports/event-store.js'
import { arbitraryCause, failureOf, somePorts } from '../access/given.js'

const cause = arbitraryCause()
const named = (id: string) => ({ team: 't', kind: 'webhook', name: 'hook', id }) as const

const givenStore = () => {
  const eventStore = openInMemoryEventStore()
  const ports = somePorts(eventStore)
  const holder = async () => ownerOf(await rosterOf(ports, 't'), 'webhook', 'hook')
  const make = async (id: string) => {
    const data = { id, team: 't', name: 'hook', url: 'https://hooks.example/', enabled: true }
    await eventStore.append(`webhook-${id}`, 'none', [
      newEvent(`e-${id}`, { type: 'WebhookCreated', data }, cause),
    ])
  }
  return { eventStore, ports, holder, make }
}

/** What another process does between two appends of this one. */
const meanwhile = (eventStore: EventStore, after: string, task: () => Promise<unknown>): EventStore => ({
  ...eventStore,
  append: async (stream, expected, events) => {
    const appended = await eventStore.append(stream, expected, events)
    if (events[0]?.type === after) await task()
    return appended
  },
})

describe('a name that two processes want at once', () => {
  it('is given back by the one that took it too soon', async () => {
    const { eventStore, ports, holder, make } = givenStore()
    await takeName(ports, named('first'), cause)
    const slow = { ...ports, eventStore: meanwhile(eventStore, 'NameReleased', () => make('first')) }
    const { kind, details } = await failureOf(takeName(slow, named('second'), cause))
    assert.deepEqual([kind, details.body], ['conflict', { id: 'first' }])
    assert.equal(await holder(), 'first')
  })

  it('is given up, with what was made under it, by the one that was too slow', async () => {
    const { ports, holder } = givenStore()
    await takeName(ports, named('first'), cause)
    await takeName(ports, named('second'), cause)
    let unmade = 0
    const undo = async () => (unmade += 1)
    const { kind, details } = await failureOf(confirmName(ports, named('first'), cause, undo))
    assert.deepEqual([kind, details.body, unmade], ['conflict', { id: 'second' }, 1])
    await confirmName(ports, named('second'), cause, undo)
    assert.deepEqual([unmade, await holder()], [1, 'second'])
  })

  it('is released by the one that has it', async () => {
    const { ports, holder } = givenStore()
    await takeName(ports, named('first'), cause)
    await releaseName(ports, named('second'), cause)
    assert.equal(await holder(), 'first')
    await releaseName(ports, named('first'), cause)
    assert.equal(await holder(), undefined)
  })
})
