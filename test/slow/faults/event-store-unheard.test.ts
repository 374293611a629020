import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { openEventStoreDb } from '../../../src/adapters/event-store/eventstoredb/event-store-db.js'
import { arbitraryEvent, givenStreamOf } from '../../contract/event-store/arbitrary-events.js'
import { startProtocolDouble } from '../../support/eventstoredb-protocol-double/double.js'

const RECOVERED_WITHIN_MS = 120_000

describe('a connection to an EventStoreDB (a protocol double) that is taken and never answered', () => {
  it('is given up, so that writes, reads and subscriptions go on with the server once it is back', async () => {
    const first = await startProtocolDouble()
    const { log } = first
    const port = Number(new URL(first.url.replace('esdb', 'http')).port)
    const store = await openEventStoreDb(first.url)
    const { stream, ids } = await givenStreamOf(store, 1)
    const told: string[] = []
    const following = (async () => {
      for (;;)
        try {
          for await (const item of store.subscribeAll()) if (item.kind === 'event') told.push(item.event.id)
          return
        } catch {
          // A follower subscribes again.
        }
    })()

    const event = arbitraryEvent()
    await first.stop()
    const taken: Socket[] = []
    const silent = createServer((socket) => void taken.push(socket.on('error', () => undefined)))
    silent.listen(port, '127.0.0.1')
    await once(silent, 'listening')
    while (taken.length === 0) await store.append(stream, 0n, [event]).catch(() => sleep(100))
    silent.close()
    const double = await startProtocolDouble({ port, log })

    const since = performance.now()
    const hasAppended = async () => {
      try {
        await store.append(stream, 0n, [event])
        return true
      } catch {
        return false
      }
    }
    while (!(await hasAppended())) assert.ok(performance.now() - since < RECOVERED_WITHIN_MS)
    while (!told.includes(event.id)) {
      assert.ok(performance.now() - since < RECOVERED_WITHIN_MS)
      await sleep(50)
    }
    assert.ok(told.includes(ids[0]!))

    await store.close()
    await following
    for (const socket of taken) socket.destroy()
    await double.stop()
  })
})
