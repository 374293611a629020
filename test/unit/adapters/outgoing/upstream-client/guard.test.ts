import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import type { TlsOptions } from 'node:tls'
import { undiciUpstreamClient } from '../../../../../src/adapters/outgoing/upstream-client/undici-upstream-client.js'
import type { Guarding } from '../../../../../src/adapters/outgoing/upstream-client/connecting.js'
import { dialling } from '../../../../../src/adapters/outgoing/guard/connect-to-any.js'
import {
  UpstreamFault,
  type UpstreamClient,
} from '../../../../../src/domain/gateway/upstreams/upstream-client.js'
import { certificateAuthority, certifyingItself } from '../../../../support/certificates.js'
import { answers, answersAndCloses } from '../../../../support/receivers/behaviours.js'
import { startNameServer, type NameServer } from '../../../../support/receivers/name-server.js'
import { startReceiver, type Receiver } from '../../../../support/receivers/receiver.js'

const REFUSED = 'forbidden-address by the operator'
const authority = certificateAuthority()

describe('where a guarded upstream may be', () => {
  let names: NameServer
  let receiver: Receiver
  let dialled: string[]
  const clients: UpstreamClient[] = []
  before(async () => {
    names = await startNameServer()
  })
  after(() => names.stop())
  beforeEach(async () => {
    dialled = []
    receiver = await startReceiver(answers(200))
  })
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()))
    await receiver.stop()
  })

  const clientWith = (guarding: Guarding): UpstreamClient => {
    const client = undiciUpstreamClient({
      names: { servers: [names.address] },
      dial: (address, port) => {
        dialled.push(address)
        assert.match(address, /^127\./)
        return dialling(address, port)
      },
      ...guarding,
    })
    clients.push(client)
    return client
  }
  const ask = async (client: UpstreamClient, url: string, isGuarded = true, connect_ms = 60_000) => {
    const [headers, ms] = [{}, 60_000]
    const timeouts = { connect_ms, first_byte_ms: ms, idle_ms: ms, total_ms: ms }
    try {
      const answer = await client.ask({ url, headers, body: null, timeouts, isGuarded, isFresh: false })
      for await (const piece of answer.body) assert.ok(piece.length > 0)
      return String(answer.status)
    } catch (error) {
      assert.ok(error instanceof UpstreamFault, String(error))
      return error.message
    }
  }

  it('is no private address, no name of one, and nothing that says where it is in another way', async () => {
    names.answer('inside.test', ['127.0.0.1'])
    names.answer('mixed.test', ['93.184.216.34', '10.0.0.1'])
    names.answer('metadata.test', ['169.254.169.254'])
    const client = clientWith({})
    for (const host of [
      `127.0.0.1:${receiver.port}`,
      `2130706433:${receiver.port}`,
      `0x7f.1:${receiver.port}`,
      `[::1]:${receiver.port}`,
      `[::ffff:127.0.0.1]:${receiver.port}`,
      `localhost:${receiver.port}`,
      `inside.test:${receiver.port}`,
      'mixed.test',
      'metadata.test',
      '169.254.169.254',
      '10.1.2.3',
    ])
      assert.equal(await ask(client, `http://${host}/v1/models`), REFUSED, host)
    assert.deepEqual(dialled, [])
  })

  it('is in a network that the operator allows, but never where credentials are kept, nor the service itself', async () => {
    const allowed = { cidrs: ['127.0.0.0/8', '169.254.0.0/16'] }
    assert.equal(await ask(clientWith(allowed), receiver.url), '200')
    assert.equal(await ask(clientWith(allowed), 'http://169.254.169.254/'), REFUSED)
    assert.equal(await ask(clientWith(allowed), 'http://127.0.0.1:6379/'), REFUSED)
    const listening = () => ({ address: '127.0.0.1', port: receiver.port })
    assert.equal(await ask(clientWith({ ...allowed, listening }), receiver.url), REFUSED)
  })

  it('is looked up once for each connection, whatever the name says the next time', async () => {
    receiver.behave(answersAndCloses(200))
    const client = clientWith({ cidrs: ['127.0.0.1/32'] })
    names.answer('changing.test', ['127.0.0.1'])
    const url = `http://changing.test:${receiver.port}/`
    assert.equal(await ask(client, url), '200')
    names.answer('changing.test', ['127.0.0.2'])
    assert.equal(await ask(client, url), REFUSED)
    assert.deepEqual(dialled, ['127.0.0.1'])
  })

  it('is anywhere where it is the operator who trusts it', async () => {
    assert.equal(await ask(clientWith({}), receiver.url, false), '200')
    assert.deepEqual(dialled, [])
  })

  it('is given up with its request while nobody has answered yet', async () => {
    names.answer('silent.test', ['127.0.0.1'])
    const dialling: Socket[] = []
    const dial = () => {
      const socket = new Socket()
      dialling.push(socket)
      return socket
    }
    const client = clientWith({ cidrs: ['127.0.0.0/8'], dial })
    // On a slow machine the name alone may take longer.
    for (let ms = 50; dialling.length === 0; ms *= 2)
      assert.equal(await ask(client, 'http://silent.test/', true, ms), 'timeout connect')
    assert.ok(dialling.every(({ destroyed }) => destroyed))
  })

  const tls: readonly (readonly [string, TlsOptions, string])[] = [
    ['is signed by an authority', authority.certifies({ hosts: ['127.0.0.1'] }), '200'],
    ['signs itself', certifyingItself({ hosts: ['127.0.0.1'] }), 'tls DEPTH_ZERO_SELF_SIGNED_CERT'],
    [
      'is for another host',
      authority.certifies({ hosts: ['127.0.0.9'] }),
      'tls ERR_TLS_CERT_ALTNAME_INVALID',
    ],
  ]
  for (const [what, options, expected] of tls)
    it(`is asked by TLS with a certificate that ${what}: ${expected}`, async () => {
      const secure = await startReceiver(answers(200), { tls: options })
      const client = clientWith({ cidrs: ['127.0.0.0/8'], certificateAuthorities: authority.cert })
      for (const isGuarded of [true, false])
        assert.equal(await ask(client, secure.url, isGuarded), expected, String(isGuarded))
      await secure.stop()
    })
})
