import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { accepted, reasonOf, textIn, told, writesNothing } from '../calls/given.js'
import { sharedService } from '../shared-service.js'
import { anAutomation, aWebhook, givenTeam } from './given.js'

describe('what is in use', () => {
  let service: TestService
  before(async () => void (service = await sharedService()))

  const given = async () => {
    const team = await givenTeam(service)
    const { send } = team
    accepted(await send('PUT', `/api/teams/${team.team}/secrets/KEY`, { value: 'value' }))
    const hook = textIn(accepted(await team.postWebhook(aWebhook({ secret: 'KEY' }))), 'id')
    const automation = accepted(await team.postAutomation(anAutomation(team.team)))
    const brokenNow = async () => {
      const { data } = accepted(await send('GET', `/api/automations?team=${team.team}`))
      return (data as readonly JsonObject[]).map(({ broken }) => broken)
    }
    return { ...team, hook, automation, brokenNow, secret: `/api/teams/${team.team}/secrets/KEY` }
  }

  it('is a secret that a webhook names: it is destroyed only with force, and that is shown', async () => {
    const { send, secret, hook, brokenNow } = await given()
    await writesNothing(service, async () => {
      for (const path of [secret, `${secret}?force=false`]) {
        const answer = await send('DELETE', path)
        assert.match(reasonOf(answer, 409), /force=true/)
        assert.deepEqual(answer.json()['used_by'], [{ kind: 'webhook', id: hook, name: 'hook' }])
      }
      assert.equal((await send('DELETE', `${secret}?force=maybe`)).status, 422)
    })
    assert.deepEqual(await brokenNow(), [null])
    accepted(await send('DELETE', `${secret}?force=true`))
    assert.deepEqual(await brokenNow(), ['secret_destroyed'])
    accepted(await send('DELETE', secret))
    accepted(await send('PUT', secret, { value: 'another' }))
    assert.deepEqual(await brokenNow(), [null])
  })

  it('is a webhook that automations send to: it shows them, and is deleted only with force', async () => {
    const { send, webhooks, hook, automation, brokenNow } = await given()
    const users = [{ id: automation['id'], name: automation['name'] }]
    assert.deepEqual(accepted(await send('GET', `${webhooks}/${hook}`))['used_by'], users)
    const [listed] = accepted(await send('GET', webhooks))['data'] as readonly JsonObject[]
    assert.deepEqual(listed!['used_by'], users)
    await writesNothing(service, async () => {
      const answer = await send('DELETE', `${webhooks}/${hook}`)
      reasonOf(answer, 409)
      assert.deepEqual(answer.json()['used_by'], [{ kind: 'automation', ...users[0] }])
    })
    accepted(await send('DELETE', `${webhooks}/${hook}?force=true`))
    assert.deepEqual(await brokenNow(), ['webhook_deleted'])
    accepted(await send('DELETE', `${webhooks}/${hook}`))
  })

  it('is nothing once its users are gone', async () => {
    const { send, webhooks, hook, automation, secret } = await given()
    accepted(await send('DELETE', `/api/automations/${textIn(automation, 'id')}`))
    accepted(await send('DELETE', `${webhooks}/${hook}`))
    accepted(await send('DELETE', secret))
  })

  it('may be watched for equal and other values, and says its action', async () => {
    const { team, postAutomation } = await given()
    for (const comparison of ['$eq', '$ne']) {
      const event = { type: 'RUN_METRIC', metric: 'loss', comparison, threshold: 1 }
      const made = accepted(
        await postAutomation(anAutomation(team, { name: comparison, event, action_type: 'webhook' })),
      )
      assert.equal(made['action_type'], 'webhook')
    }
    const refused = async (more: object) => told(await postAutomation(anAutomation(team, more)))
    assert.deepEqual(await refused({ action_type: 'slack' }), ['literal_error action_type'])
    const event = { type: 'ADD_ARTIFACT_ALIAS', alias_pattern: '' }
    assert.deepEqual(await refused({ event }), ['string_too_short event.alias_pattern'])
  })
})
