import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { answers } from '../../support/receivers/behaviours.js'
import { accepted, reasonOf, told, writesNothing } from '../calls/given.js'
import { startSending, type Sending } from './deliveries/given.js'
import { givenTeam } from './given.js'

describe('a test of a webhook that is not saved', () => {
  let sending: Sending
  before(async () => {
    sending = await startSending()
  })
  after(() => sending.stop())

  it('sends the payload with its secrets, shows both sides, and stores nothing', async () => {
    const { service } = sending
    const { send, webhooks, team } = await givenTeam(service)
    for (const [name, value] of [
      ['REAL_TOKEN', 'value-of-the-token'],
      ['REAL_KEY', 'value-of-the-key'],
    ] as const)
      accepted(await send('PUT', `/api/teams/${team}/secrets/${name}`, { value }))
    const { url, received } = await sending.receiver(answers(201, { 'x-said': 'value-of-the-key' }, 'thanks'))
    const body = {
      url,
      access_token: 'REAL_TOKEN',
      secret: 'REAL_KEY',
      payload: '{"token": "$REAL_TOKEN", "key": "${REAL_KEY}", "alias": "${alias}"}',
    }
    await writesNothing(service, async () => {
      const answer = accepted(await send('POST', `${webhooks}/test`, body))
      const { request, status, headers, body: said, hint, error, peer } = answer
      assert.deepEqual([status, said, hint, error, peer], [201, 'thanks', null, null, '127.0.0.1'])
      assert.equal((headers as JsonObject)['x-said'], '[secret]')
      assert.equal(
        (request as JsonObject)['body'],
        '{"token": "[secret:ACCESS_TOKEN]", "key": "[secret:REAL_KEY]", "alias": ""}',
      )
    })
    assert.deepEqual(JSON.parse(received[0]!.body.toString()), {
      token: 'value-of-the-token',
      key: 'value-of-the-key',
      alias: '',
    })
    assert.equal(received[0]!.headers['authorization'], 'Bearer value-of-the-token')
  })

  it('is refused as a webhook would be, and by its role', async () => {
    const { service } = sending
    const { send, webhooks, keys, stranger } = await givenTeam(service)
    const test = (body: object, key?: string) =>
      send('POST', `${webhooks}/test`, body, key === undefined ? {} : { key })
    const url = 'https://hooks.example/in'
    await writesNothing(service, async () => {
      assert.deepEqual(told(await test({})), ['missing url'])
      assert.deepEqual(told(await test({ url: 'ftp://x' })), ['value_error url'])
      assert.deepEqual(told(await test({ url, secret: 'NOBODYS' })), ['value_error secret'])
      assert.deepEqual(told(await test({ url, payload: '{"a": "$NOBODYS"}' })), ['value_error payload'])
      assert.deepEqual(told(await test({ url, colour: 'red' })), ['extra_forbidden colour'])
      for (const role of ['member', 'project_administrator', 'registry_administrator'] as const)
        reasonOf(await test({ url }, keys[role]), 403)
      reasonOf(await test({ url }, stranger), 404)
    })
  })

  it('says which rule does not allow the address', async () => {
    const { service } = sending
    const { send, webhooks } = await givenTeam(service)
    const answer = accepted(await send('POST', `${webhooks}/test`, { url: 'http://192.168.7.7/' }))
    assert.deepEqual([answer['error'], answer['address_rule']], ['address not allowed', 'private_network'])
    assert.match(answer['hint'] as string, /private network/)
  })
})
