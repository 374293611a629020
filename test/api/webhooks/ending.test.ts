import assert from 'node:assert/strict'
import { startSending, type Sending } from './deliveries/given.js'
import { until } from '../../support/until.js'
import { hangs } from '../../support/receivers/behaviours.js'
import { accepted, textIn } from '../calls/given.js'
import { aWebhook, givenTeam } from './given.js'

describe('a test of a webhook that is under way when the service stops', () => {
  let sending: Sending
  before(async () => {
    sending = await startSending()
  })

  it('is answered, and says why there is no result', async () => {
    const team = await givenTeam(sending.service)
    const { url, received } = await sending.receiver(hangs)
    const webhook = textIn(accepted(await team.postWebhook(aWebhook({ url, timeout_s: 30 }))), 'id')
    const testing = team.send('POST', `${team.webhooks}/${webhook}/test`, {})
    await until(() => received.length === 1)
    const [{ status, text }] = await Promise.all([testing, sending.stop()])
    assert.equal(status, 503)
    assert.match(text, /The service is stopping/)
  })
})
