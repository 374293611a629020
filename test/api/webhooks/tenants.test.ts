import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService } from '../shared-service.js'
import { accepted, reasonOf, textIn, writesNothing } from '../calls/given.js'
import { anAutomation, aWebhook, givenTeam } from './given.js'

describe('automations of others', () => {
  let service: TestService
  before(async () => void (service = await sharedService()))

  it('cannot be told from those that are not there', async () => {
    const { team, stranger, postWebhook, postAutomation } = await givenTeam(service)
    accepted(await postWebhook(aWebhook()))
    const id = textIn(accepted(await postAutomation(anAutomation(team))), 'id')
    const same = async (method: string, there: string, none: string, body?: (team: string) => object) => {
      const [a, b] = await Promise.all([
        service.send(method, there, body?.(team), { key: stranger }),
        service.send(method, none, body?.(`${team}-none`), { key: stranger }),
      ])
      reasonOf(a, 404)
      assert.deepEqual([a.status, a.text], [b.status, b.text])
    }
    await writesNothing(service, async () => {
      await same('GET', `/api/automations?team=${team}`, `/api/automations?team=${team}-none`)
      await same('POST', '/api/automations', '/api/automations', (of) => anAutomation(of))
      for (const none of ['nothing', `${id}x`, '%00', 'a'.repeat(1000)]) {
        await same('GET', `/api/automations/${id}`, `/api/automations/${none}`)
        await same('PATCH', `/api/automations/${id}`, `/api/automations/${none}`, () => ({ enabled: false }))
        await same('DELETE', `/api/automations/${id}`, `/api/automations/${none}`)
      }
    })
  })

  it('are not listed without a team', async () => {
    for (const [query, type] of [
      ['', 'missing'],
      ['?team=a&team=b', 'string_type'],
    ]) {
      const answer = await service.send('GET', `/api/automations${query}`)
      assert.equal(answer.status, 422)
      const { detail } = answer.json<{ detail: { loc: string[]; type: string }[] }>()
      assert.deepEqual(
        detail.map(({ loc, type }) => [loc, type]),
        [[['query', 'team'], type]],
      )
    }
  })
})
