import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { answers } from '../../support/receivers/behaviours.js'
import { until } from '../../support/until.js'
import { accepted, reasonOf, told } from '../calls/given.js'
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

  it('are refused where they write out a credential; those of earlier releases work and are not shown', async () => {
    const { send, team, path, webhooks, received, aliasAdded, append, listed, detailOf, keys } = await given()
    const written = { Cookie: 'a=aHVzaA==', 'X-Team': 'acme' }
    const { url } = accepted(await send('GET', path))
    for (const [method, at, body] of [
      ['POST', webhooks, aWebhook({ name: 'other', headers: written })],
      ['PATCH', path, { headers: written }],
      ['POST', `${webhooks}/test`, { url, headers: written }],
    ] as const) {
      const refused = await send(method, at, body)
      assert.deepEqual(told(refused), ['value_error headers.Cookie'])
      assert.match(refused.text, /use access_token, or store it as a secret of the team/)
      assert.ok(!refused.text.includes('aHVzaA'))
    }
    const content = {
      id: path.split('/').at(-1)!,
      team,
      name: 'hook',
      url: url!,
      access_token: 'TOKEN',
      headers: written,
    }
    await append(`webhook-${content.id}`, 'WebhookChanged', { ...content, timeout_s: 30 })
    accepted(await send('PATCH', path, { timeout_s: 20 }))
    assert.deepEqual(accepted(await send('GET', path))['headers'], { ...written, Cookie: '[secret]' })
    const tested = accepted(await send('POST', `${path}/test`, { payload: '{}' }))
    assert.equal(received.at(-1)!.headers['cookie'], 'a=aHVzaA==')
    assert.ok(!JSON.stringify(tested).includes('aHVzaA'))
    const id = await deliveredBy(aliasAdded, listed)
    await until(async () => (await detailOf(id)).attempts[0]!.response !== null)
    assert.ok(!JSON.stringify(await detailOf(id)).includes('aHVzaA'))
    for (const key of [keys.team_administrator, keys.member]) {
      const events = await send('GET', '/api/events?types=WebhookChanged,WebhookCreated', undefined, { key })
      assert.equal(events.status, 200)
      assert.ok(!events.text.includes('aHVzaA'))
    }
  })

  const deliveredBy = async (
    aliasAdded: (alias: string) => Promise<unknown>,
    listed: (query?: string) => Promise<readonly { readonly id: string }[]>,
  ): Promise<string> => {
    await aliasAdded('written')
    await until(async () => (await listed('state=succeeded')).length === 1)
    return (await listed())[0]!.id
  }

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
