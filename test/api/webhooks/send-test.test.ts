import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import * as E from 'fp-ts/lib/Either.js'
import { Webhook } from 'standardwebhooks'
import { systemIds, hmacSha256, systemClock } from '../../../src/adapters/system/system.js'
import {
  webhookSender,
  type ClosableWebhookSender,
} from '../../../src/adapters/outgoing/webhook-sender/webhook-sender.js'
import { sendTest, type TestedWebhook } from '../../../src/application/webhooks/send-test.js'
import { parseTemplate } from '../../../src/domain/webhooks/templates/parse.js'
import { answers, dependingOn } from '../../support/receivers/behaviours.js'
import { startReceiver, type Receiver } from '../../support/receivers/receiver.js'

const stored = (value: string) => ({ value, storedAt: new Date(0) })
const TOKEN = 'token-of-the-webhook'
const SECRETS = [stored('the secret of the webhook'), stored('the secret of before')]

describe('the test of a webhook', () => {
  let receiver: Receiver
  let sender: ClosableWebhookSender
  before(async () => {
    receiver = await startReceiver(answers(200))
    sender = webhookSender({ allowed: { cidrs: ['127.0.0.1/32'] } })
  })
  after(async () => {
    sender.close()
    await receiver.stop()
  })

  const test = (given: Partial<TestedWebhook> = {}, payload = '{"hello":"wörld","key":"$KEY"}') => {
    const template = parseTemplate(payload, { accessToken: 'TOKEN', secret: 'KEY' })
    assert.ok(E.isRight(template))
    return sendTest({
      webhookSender: sender,
      hmacSha256,
      clock: systemClock,
      ids: systemIds,
      vendor: 'Vendor',
    })(
      {
        url: receiver.url,
        timeout_s: null,
        accessTokens: [stored(TOKEN)],
        secrets: SECRETS,
        headers: null,
        headerSecrets: new Map(),
        ...given,
      },
      template.right,
    )
  }

  it('takes the way of a delivery, signed, under an id that says test', async () => {
    const { id, status, error } = await test()
    const { headers, body } = receiver.received.at(-1)!
    assert.deepEqual([status, error], [200, null])
    assert.match(id, /^test_/)
    assert.equal(headers['webhook-id'], id)
    assert.equal(headers['authorization'], `Bearer ${TOKEN}`)
    assert.equal(headers['x-vendor-delivery-attempt'], '1')
    const digest = createHmac('sha256', SECRETS[0]!.value).update(body).digest('hex')
    assert.equal(headers['x-vendor-signature'], digest)
    new Webhook(Buffer.from(SECRETS[0]!.value), { format: 'raw' }).verify(body, headers)
  })

  it('shows what the endpoint said, without any secret that it gives back', async () => {
    receiver.behave(
      dependingOn(({ headers }) =>
        answers(
          418,
          { 'x-echo': headers['authorization']! },
          JSON.stringify([headers, ...SECRETS.map(({ value }) => Buffer.from(value).toString('base64'))]),
        ),
      ),
    )
    const shown = await test()
    assert.equal(shown.status, 418)
    assert.equal(shown.headers['x-echo'], 'Bearer [secret]')
    for (const { value } of [stored(TOKEN), ...SECRETS])
      for (const form of ['utf8', 'base64', 'hex'] as const)
        assert.ok(!JSON.stringify(shown).includes(Buffer.from(value).toString(form)))
  })

  it('shows what was sent without secrets, and how long each phase took', async () => {
    receiver.behave(answers(200, {}, 'ok'))
    const { id, request, phases, duration_ms, peer, hint, address_rule } = await test()
    const { headers } = receiver.received.at(-1)!
    assert.deepEqual([request!.method, request!.url], ['POST', receiver.url])
    assert.equal(request!.body, '{"hello":"wörld","key":"[secret:KEY]"}')
    assert.equal(request!.headers['Authorization'], 'Bearer [secret]')
    assert.equal(request!.headers['webhook-id'], id)
    assert.equal(request!.headers['X-Vendor-Signature'], headers['x-vendor-signature'])
    assert.ok(phases.first_byte !== null && phases.first_byte > 0 && phases.total >= phases.first_byte)
    assert.deepEqual([duration_ms, peer, hint, address_rule], [phases.total, '127.0.0.1', null, null])
  })

  const closed = 'http://127.0.0.1:1'
  for (const [url, error, rule, hint] of [
    ['http://169.254.169.254/latest/meta-data', 'address not allowed', 'metadata', /metadata service/],
    ['http://10.1.2.3/', 'address not allowed', 'private_network', /TALLYTREE_WEBHOOK_ALLOW_CIDRS/],
    ['http://[::1]:8080/', 'address not allowed', 'private_network', /TALLYTREE_WEBHOOK_ALLOW_CIDRS/],
    ['http://127.0.0.1:25/', 'address not allowed', 'port', /TALLYTREE_WEBHOOK_ALLOW_HOSTS/],
    [closed, 'address not allowed', 'port', /port/],
    ['http://127.0.0.1:2/', 'connect:ECONNREFUSED', null, /Nothing accepts connections/],
    ['http://255.255.255.255/', 'address not allowed', 'reserved', /reserved/],
    ['http://224.0.0.1/', 'address not allowed', 'reserved', /reserved/],
    ['http://no.such.host.invalid/', /^(dns:|timeout:dns)/, null, /host/],
  ] as const)
    it(`says why nothing was sent to ${url}, and what to change`, async () => {
      const told = await test({ url, timeout_s: 5 })
      if (typeof error === 'string') assert.equal(told.error, error)
      else assert.match(told.error!, error)
      assert.deepEqual([told.address_rule, told.status], [rule, null])
      assert.match(told.hint!, hint)
    })

  for (const [status, hint] of [
    [301, /Redirects/],
    [401, /access_token/],
    [404, /path/],
    [410, /disable/],
    [422, /payload/],
    [429, /retried/],
    [500, /log/],
  ] as const)
    it(`says what to change after a ${status}`, async () => {
      receiver.behave(answers(status))
      assert.match((await test()).hint!, hint)
    })

  it('says that the receiver speaks no TLS, or took too long', async () => {
    assert.match((await test({ url: receiver.url.replace('http:', 'https:') })).hint!, /http:\/\//)
    receiver.behave(() => undefined)
    const { error, hint } = await test({ timeout_s: 1 })
    assert.match(error!, /^timeout:/)
    assert.match(hint!, /timeout_s/)
  })

  it('fails before it sends where the token cannot stand in a header, or a secret is gone', async () => {
    const before = receiver.received.length
    const { status, error, hint, request } = await test({ accessTokens: [stored('two\r\nlines')] })
    assert.deepEqual([status, error, request], [null, 'unusable_token', null])
    assert.match(hint!, /line breaks/)
    const gone = await test({ secrets: [] })
    assert.deepEqual([gone.error, receiver.received.length], ['missing_secret', before])
    assert.match(gone.hint!, /Store it again/)
    receiver.behave(answers(200))
    const plain = await test({ accessTokens: null, secrets: null }, '{}')
    assert.deepEqual([plain.status, 'Authorization' in plain.request!.headers], [200, false])
  })
})
