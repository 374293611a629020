import assert from 'node:assert/strict'
import { openEventStoreDb } from '../../../../../src/adapters/event-store/eventstoredb/event-store-db.js'
import { StoreUnavailable } from '../../../../../src/kernel/ports/event-store-errors.js'
import {
  arbitraryEvent,
  arbitraryStream,
  givenStreamOf,
} from '../../../../contract/event-store/arbitrary-events.js'
import { idsIn } from '../../../../contract/event-store/collect.js'
import { startProtocolDouble } from '../../../../support/eventstoredb-protocol-double/double.js'

const newerEvent = () => {
  const event = arbitraryEvent()
  return { ...event, metadata: { ...event.metadata, schemaVersion: 2 } }
}

describe('opening an EventStoreDB', () => {
  it('fails with a sentence that names the host, without the password, when the server is away', async () => {
    await assert.rejects(openEventStoreDb('esdb://admin:geheim@127.0.0.1:1?tls=false'), {
      name: 'StoreUnavailable',
      message: 'the EventStoreDB at 127.0.0.1:1 (EVENTSTORE_URL) does not respond',
    })
  })

  it('fails so too when the server takes calls and answers none', async () => {
    const double = await startProtocolDouble({ misbehaviour: { muteReads: true } })

    await assert.rejects(openEventStoreDb(double.url), {
      name: 'StoreUnavailable',
      message: /does not respond/,
    })

    await double.stop()
  })

  it('repeats nothing of a string that the client does not take', async () => {
    await assert.rejects(
      openEventStoreDb('esdb://admin:geheim@host:port'),
      ({ name, message, cause }: Error) => {
        assert.equal(name, 'StoreUnavailable')
        assert.doesNotMatch(`${message} ${String(cause)}`, /geheim/)
        return true
      },
    )
  })

  it('waits for a server that comes a little later', async () => {
    const first = await startProtocolDouble()
    const port = Number(new URL(first.url.replace('esdb', 'http')).port)
    await first.stop()

    const opening = openEventStoreDb(first.url)
    const double = await startProtocolDouble({ port })
    const store = await opening

    assert.equal(await store.head(), 0n)
    await store.close()
    await double.stop()
  })

  it('fails when a newer release has written the last event', async () => {
    const double = await startProtocolDouble()
    const store = await openEventStoreDb(double.url)
    await store.append(arbitraryStream(), 'none', [newerEvent()])
    await store.close()

    await assert.rejects(openEventStoreDb(double.url), {
      name: 'StoreUnavailable',
      message: /written by a newer release.*schema version 2.*supports up to 1/,
    })

    await double.stop()
  })

  it('reports failed reads and appends, and the first one that succeeds again, also when its reader stops early', async () => {
    const reports = new Map<string, unknown>()
    const double = await startProtocolDouble()
    const port = Number(new URL(double.url.replace('esdb', 'http')).port)
    const store = await openEventStoreDb(double.url, {
      health: { report: (part, error) => reports.set(part, error) },
    })
    const { stream } = await givenStreamOf(store, 2)
    assert.equal(reports.get('event-log-writes'), null)
    await double.stop()

    await assert.rejects(idsIn(store.readStream(stream)))
    await assert.rejects(store.append(stream, 1n, [arbitraryEvent()]))
    assert.ok(reports.get('event-log-reads') instanceof StoreUnavailable)
    assert.ok(reports.get('event-log-writes') instanceof StoreUnavailable)

    const again = await startProtocolDouble({ port })
    await givenStreamOf(store, 2)
    for await (const { revision } of store.readAll()) if (revision === 0n) break
    assert.deepEqual([...reports.values()], [null, null])
    await store.close()
    await again.stop()
  })

  it('twice in one process shares the client, which lives until both are closed', async () => {
    const double = await startProtocolDouble()
    const [one, other] = [await openEventStoreDb(double.url), await openEventStoreDb(double.url)]
    const { stream, ids } = await givenStreamOf(one, 2)
    await one.close()

    assert.deepEqual(await idsIn(other.readStream(stream)), ids)

    await other.close()
    await double.stop()
  })

  it('of another server is refused while one is open, and possible afterwards', async () => {
    const doubles = [await startProtocolDouble(), await startProtocolDouble()] as const
    const store = await openEventStoreDb(doubles[0].url)

    await assert.rejects(openEventStoreDb(doubles[1].url), { name: 'StoreUnavailable', message: /another/ })
    await store.close()
    await (await openEventStoreDb(doubles[1].url)).close()

    for (const double of doubles) await double.stop()
  })
})
