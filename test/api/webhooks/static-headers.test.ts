import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { answers } from '../../support/receivers/behaviours.js'
import { until } from '../../support/until.js'
import { accepted, reasonOf } from '../calls/given.js'
import { givenAutomation, startSending, type Sending } from './deliveries/given.js'
import { aWebhook } from './given.js'

describe('the headers of a webhook', () => {
  let sending: Sending
  before(async () => void (sending = await startSending()))
  after(() => sending.stop())

  const given = async () => {
    const team = await givenAutomation(sending, answers(200, {}, 'you sent hush-hush'))
    await sending.service.stores.secrets.put({ team: team.team, name: 'HOOK_KEY', version: 1 }, 'hush-hush')
    const path = `${team.webhooks}/${team.webhook}`
    const headers = { 'X-Api-Key': 'key $HOOK_KEY', 'X-Team': 'acme' }
    accepted(await team.send('PATCH', path, { headers }))
    return { ...team, path, headers }
  }

  it('are sent with each message, and shown without secrets', async () => {
    const { aliasAdded, received, listed, detailOf, headers, path, send } = await given()
    assert.deepEqual(accepted(await send('GET', path))['headers'], headers)
    await aliasAdded('one')
    await until(async () => (await listed('state=succeeded')).length === 1)
    assert.equal(received[0]!.headers['x-api-key'], 'key hush-hush')
    assert.equal(received[0]!.headers['x-team'], 'acme')
    const { id } = (await listed())[0]!
    await until(async () => (await detailOf(id)).attempts[0]!.response !== null)
    const detail = await detailOf(id)
    assert.equal(detail.attempts[0]!.request_headers!['X-Api-Key'], 'key [secret]')
    assert.ok(!JSON.stringify(detail).includes('hush-hush'))
  })

  it('are sent by tests of saved and unsaved webhooks', async () => {
    const { send, path, webhooks, headers, received } = await given()
    const saved = accepted(await send('POST', `${path}/test`, {}))
    assert.equal(received.at(-1)!.headers['x-api-key'], 'key hush-hush')
    assert.equal(((saved['request'] as JsonObject)['headers'] as JsonObject)['X-Api-Key'], 'key [secret]')
    assert.equal(saved['body'], 'you sent [secret]')
    const { url } = accepted(await send('GET', path))
    const unsaved = accepted(await send('POST', `${webhooks}/test`, { url, headers }))
    assert.equal(unsaved['status'], 200)
    assert.equal(received.at(-1)!.headers['x-api-key'], 'key hush-hush')
  })

  it('use a secret, which is not deleted unless that is forced', async () => {
    const { send, team, aliasAdded, listed } = await given()
    const secret = `/api/teams/${team}/secrets/HOOK_KEY`
    assert.match(reasonOf(await send('DELETE', secret), 409), /use this secret/)
    accepted(await send('DELETE', `${secret}?force=true`))
    await aliasAdded('one')
    await until(async () => (await listed('state=dead')).length === 1)
    assert.equal((await listed())[0]!.reason, 'missing_secret')
  })

  it('are refused by field', async () => {
    const { send, webhooks } = await given()
    for (const [headers, loc] of [
      [{ Host: 'x' }, ['body', 'headers', 'Host']],
      [{ 'X-A': 'a\r\nb' }, ['body', 'headers', 'X-A']],
      [{ 'X-A': '$NOWHERE' }, ['body', 'headers', 'X-A']],
      [{ 'X-A': 5 }, ['body', 'headers', 'X-A']],
      [['X-A'], ['body', 'headers']],
    ] as const) {
      const refused = await send('POST', webhooks, aWebhook({ name: 'other', headers }))
      assert.equal(refused.status, 422)
      assert.deepEqual(refused.json<{ detail: JsonObject[] }>().detail[0]!['loc'], loc)
    }
  })
})
