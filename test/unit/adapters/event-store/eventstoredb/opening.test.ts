import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createHttp2Server, type Settings } from 'node:http2'
import type { AddressInfo, Server } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { openEventStoreDb } from '../../../../../src/adapters/event-store/eventstoredb/event-store-db.js'
import { StoreUnavailable } from '../../../../../src/kernel/ports/event-store-errors.js'
import {
  arbitraryEvent,
  arbitraryStream,
  givenStreamOf,
} from '../../../../contract/event-store/arbitrary-events.js'
import { idsIn } from '../../../../contract/event-store/collect.js'
import { certificateAuthority } from '../../../../support/certificates.js'
import { startProtocolDouble } from '../../../../support/eventstoredb-protocol-double/double.js'

const newerEvent = () => {
  const event = arbitraryEvent()
  return { ...event, metadata: { ...event.metadata, schemaVersion: 2 } }
}

describe('opening an EventStoreDB', () => {
  it('fails with a sentence that names the host, without the password, when the server is away', async () => {
    await assert.rejects(openEventStoreDb('esdb://admin:geheim@127.0.0.1:1?tls=false'), {
      name: 'StoreUnavailable',
      message:
        'the EventStoreDB at 127.0.0.1:1 (EVENTSTORE_URL) does not respond: connect ECONNREFUSED 127.0.0.1:1',
    })
  })

  it('fails so too when the server takes calls and answers none', async () => {
    const double = await startProtocolDouble({ misbehaviour: { muteReads: true } })

    await assert.rejects(openEventStoreDb(double.url), {
      name: 'StoreUnavailable',
      message: /does not respond: no response within \d+ ms/,
    })

    await double.stop()
  })

  it('lets the server send 1 MiB before it waits for this process', async () => {
    const server = createHttp2Server()
    const settings = new Promise<Settings>((resolve) =>
      server.on('session', (session) => session.on('remoteSettings', resolve)),
    )
    server.on('stream', (stream) => {
      stream.respond({ ':status': 404 })
      stream.end()
    })
    server.listen(0)
    const { port } = server.address() as AddressInfo

    await assert.rejects(openEventStoreDb(`esdb://127.0.0.1:${port}?tls=false`))

    assert.equal((await settings).initialWindowSize, 1024 * 1024)
    server.close()
  })

  it('says why a connection fails, and what to do', async () => {
    const double = await startProtocolDouble()
    const certified = certificateAuthority().certifies({ hosts: ['localhost'] })
    const withTls = createTlsServer({ ...certified, ALPNProtocols: ['h2'] }).listen(0)
    const ofHttp1 = createHttpServer((_, response) => response.end()).listen(0)
    await Promise.all([once(withTls, 'listening'), once(ofHttp1, 'listening')])
    const portOf = (server: Server) => (server.address() as AddressInfo).port
    const failures: readonly (readonly [url: string, message: RegExp])[] = [
      ['esdb://no-such-host.invalid:2113?tls=false', /Name resolution failed/],
      ['esdb://127.0.0.1:1,127.0.0.1:2?tls=false', /no host of the cluster responds/],
      [`esdb://localhost:${/:(\d+)/.exec(double.url)![1]}?tls=true`, /does not use TLS; set tls=false/],
      [`esdb://localhost:${portOf(withTls)}?tls=true`, /certificate.*tlsCAFile/],
      [`esdb://localhost:${portOf(withTls)}?tls=false`, /set tls=true/],
      [`esdb://localhost:${portOf(ofHttp1)}?tls=false`, /no gRPC server/],
    ]

    await Promise.all(
      failures.map(([url, message]) =>
        assert.rejects(openEventStoreDb(url), { name: 'StoreUnavailable', message }),
      ),
    )

    withTls.close()
    ofHttp1.close()
    await double.stop()
  })

  it('names the file of a connection string that is missing', async () => {
    await assert.rejects(openEventStoreDb('esdb://admin:geheim@localhost:1?tlsCAFile=/no/ca.crt'), {
      name: 'StoreUnavailable',
      message: /EVENTSTORE_URL: .*tlsCAFile=\/no\/ca.crt/,
    })
  })

  it('refuses a server without batched appends, with its version', async () => {
    const double = await startProtocolDouble({ misbehaviour: { batchAppend: false } })

    await assert.rejects(openEventStoreDb(double.url), {
      name: 'StoreUnavailable',
      message: /has version 0\.0\.0-double, and 22\.6 or later is needed/,
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

  it('twice in one process leaves one store alone when the other server ends', async () => {
    const doubles = [await startProtocolDouble(), await startProtocolDouble()] as const
    const [store, other] = [await openEventStoreDb(doubles[0].url), await openEventStoreDb(doubles[1].url)]
    doubles[0].misbehaviour.answerLateMs = 500
    const appended = givenStreamOf(store, 2)
    const failing = assert.rejects(givenStreamOf(other, 2).then(() => givenStreamOf(other, 2)))

    await doubles[1].stop()

    const { stream, ids } = await appended
    await failing
    assert.deepEqual(await idsIn(store.readStream(stream)), ids)
    await store.close()
    await other.close()
    await doubles[0].stop()
  })
})
