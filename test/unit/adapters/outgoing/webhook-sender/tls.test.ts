import assert from 'node:assert/strict'
import type { TlsOptions } from 'node:tls'
import {
  webhookSender,
  type ClosableWebhookSender,
} from '../../../../../src/adapters/outgoing/webhook-sender/webhook-sender.js'
import { certificateAuthority, certifyingItself } from '../../../../support/certificates.js'
import { answers, hangs, hangsInBody } from '../../../../support/receivers/behaviours.js'
import { startNameServer, type NameServer } from '../../../../support/receivers/name-server.js'
import { startReceiver } from '../../../../support/receivers/receiver.js'
import { until } from '../../../../support/until.js'

const HOUR = 3_600_000
const authority = certificateAuthority()
const HOSTS = ['receiver.test', '127.0.0.1']
const good = authority.certifies({ hosts: HOSTS })

describe('sending by TLS', () => {
  let names: NameServer
  const senders: ClosableWebhookSender[] = []
  before(async () => {
    names = await startNameServer()
    names.answer('receiver.test', ['127.0.0.1'])
  })
  after(() => names.stop())
  afterEach(() => {
    for (const sender of senders.splice(0)) sender.close()
  })

  const senderTrusting = (certificateAuthorities?: string): ClosableWebhookSender => {
    const sender = webhookSender({
      allowed: { cidrs: ['127.0.0.0/8'] },
      names: { servers: [names.address] },
      certificateAuthorities,
    })
    senders.push(sender)
    return sender
  }
  const message = { headers: {}, body: Buffer.from('{}'), timeoutMs: 30_000 }
  const sendTo = async (
    tls: TlsOptions,
    trusted: string | undefined = authority.cert,
    host = 'receiver.test',
  ) => {
    const receiver = await startReceiver(answers(200, {}, 'thanks'), { tls })
    const url = `https://${host}:${receiver.port}/`
    const sent = await senderTrusting(trusted).send({ ...message, url })
    const received = receiver.received.length
    if (sent.error !== null) await until(() => receiver.open() === 0)
    await receiver.stop()
    return { ...sent, received }
  }

  it('arrives where an authority that the operator trusts says who the receiver is, by name and by address', async () => {
    for (const host of [...HOSTS, 'RECEIVER.test', 'receiver.test.']) {
      const { status, error, phases } = await sendTo(good, authority.cert, host)
      assert.deepEqual([status, error], [200, null], host)
      assert.ok(phases.tls !== null && phases.connect !== null)
    }
  })

  const refusals: readonly (readonly [string, TlsOptions, string | undefined, RegExp])[] = [
    [
      'an authority that nobody trusts',
      good,
      certificateAuthority('Another').cert,
      /^UNABLE_TO_VERIFY_LEAF_SIGNATURE$/,
    ],
    [
      'a certificate that is its own authority',
      certifyingItself({ hosts: HOSTS }),
      undefined,
      /^DEPTH_ZERO_SELF_SIGNED_CERT$/,
    ],
    [
      'a certificate that has expired',
      authority.certifies({
        hosts: HOSTS,
        from: new Date(Date.now() - 2 * HOUR),
        until: new Date(Date.now() - HOUR),
      }),
      authority.cert,
      /^CERT_HAS_EXPIRED$/,
    ],
    [
      'a certificate that is not valid yet',
      authority.certifies({
        hosts: HOSTS,
        from: new Date(Date.now() + HOUR),
        until: new Date(Date.now() + 2 * HOUR),
      }),
      authority.cert,
      /^CERT_NOT_YET_VALID$/,
    ],
    [
      'a certificate of another host',
      authority.certifies({ hosts: ['other.test'] }),
      authority.cert,
      /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    ],
    [
      'TLS 1.0',
      { ...good, minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' },
      authority.cert,
      /^ERR_SSL_(TLSV1_ALERT_PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL)$/,
    ],
  ]
  for (const [what, tls, trusted, code] of refusals)
    it(`fails at ${what}, says its code, and sends nothing`, async () => {
      const { status, error, received, bodySent } = await sendTo(tls, trusted)
      assert.ok(error?.kind === 'tls', JSON.stringify(error))
      assert.match(error.code, code)
      assert.deepEqual([status, received, bodySent], [null, 0, false])
    })

  it('verifies whatever the environment says', async () => {
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    try {
      assert.equal((await sendTo(certifyingItself({ hosts: HOSTS }))).error?.kind, 'tls')
    } finally {
      delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    }
  })

  it('fails where nobody speaks TLS', async () => {
    const plain = await startReceiver(hangs, {
      onConnection: (socket) => void socket.end('220 mail.example\r\n'),
    })
    const { error } = await senderTrusting().send({ ...message, url: `https://127.0.0.1:${plain.port}/` })
    assert.equal(error?.kind, 'tls')
    await until(() => plain.open() === 0)
    await plain.stop()
  })

  it('uses a connection again, and lets go of one whose answer never ends', async () => {
    const receiver = await startReceiver(answers(200), { tls: good })
    const sender = senderTrusting(authority.cert)
    const url = `https://receiver.test:${receiver.port}/`
    await sender.send({ ...message, url })
    const again = await sender.send({ ...message, url })
    assert.deepEqual([again.status, again.phases.tls, receiver.connections()], [200, null, 1])
    receiver.behave(hangsInBody(200))
    assert.equal((await sender.send({ ...message, url, timeoutMs: 1000 })).status, 200)
    await until(() => receiver.open() === 0)
    await receiver.stop()
  })
})
