import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { systemIds, hmacSha256, systemClock } from '../../../src/adapters/system/system.js'
import {
  webhookSender,
  type ClosableWebhookSender,
} from '../../../src/adapters/outgoing/webhook-sender/webhook-sender.js'
import { sendTest, type TestedWebhook } from '../../../src/application/webhooks/send-test.js'
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

  const test = (given: Partial<TestedWebhook> = {}, body = Buffer.from('{"hello":"wörld"}')) =>
    sendTest({ webhookSender: sender, hmacSha256, clock: systemClock, ids: systemIds, vendor: 'Vendor' })(
      { url: receiver.url, timeout_s: null, accessTokens: [stored(TOKEN)], secrets: SECRETS, ...given },
      body,
    )

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

  it('says of an address that is not allowed nothing but that', async () => {
    const { id: _, ...shown } = await test({ url: 'http://169.254.169.254/latest/meta-data' })
    const nothing = { status: null, headers: {}, body: '', durationMs: 0 }
    assert.deepEqual(shown, { ...nothing, error: 'address not allowed' })
  })

  it('fails before it sends where the token cannot stand in a header', async () => {
    const before = receiver.received.length
    const { status, error } = await test({ accessTokens: [stored('two\r\nlines')] })
    assert.deepEqual([status, error, receiver.received.length], [null, 'unusable_token', before])
  })
})
