import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { startGateway, type Gateway } from '../../support/upstreams/gateway.js'
import { sharedService } from '../shared-service.js'
import { accepted, messageOf, textIn } from '../calls/given.js'

describe('completions and models, of tenants', () => {
  const [own, other] = [1, 2].map(() => `team-${randomUUID().slice(0, 8)}`) as [string, string]
  let gateway: Gateway
  let key: string

  before(async () => {
    const service = await sharedService()
    for (const team of [own, other]) {
      await service.teams.create(team).json()
      const user = { user: `user-of-${team}`, role: 'member' }
      const made = textIn(accepted(await service.post(`/api/teams/${team}/members`, user)), 'api_key')
      if (team === own) key = made
    }
    gateway = await startGateway(service, { id: `${other}/private`, upstream: { team: other } })
  })
  after(() => gateway.upstream.close())

  it('have the models of their own teams, and cannot tell those of others from none', async () => {
    const get = async (id: string) => {
      const path = `/v1/models/${encodeURIComponent(id)}`
      return messageOf(await gateway.service.send('GET', path, undefined, { key }), 404)
    }
    const list = await gateway.service.send('GET', '/v1/models', undefined, { key })
    assert.ok(!list.text.includes(gateway.model))
    assert.equal(await get(gateway.model), await get('nobody/none'))
    const complete = async (model: string) => messageOf(await gateway.complete({ model }, { key }), 404)
    assert.equal(await complete(gateway.model), await complete('nobody/none'))
    assert.equal(gateway.upstream.arrivals.length, 0)
  })

  it('cannot write to projects of others, whether or not those are there', async () => {
    const told = await Promise.all(
      [other, `${other}x`].map(async (team) => {
        const options = { key, headers: { 'openai-project': `${team}/project` } }
        return messageOf(await gateway.complete({}, options), 401)
      }),
    )
    assert.equal(told[0], told[1])
    assert.equal(gateway.upstream.arrivals.length, 0)
  })

  it('are told apart from a wrong header when their user is in no team any more', async () => {
    const { service } = gateway
    const left = { user: `left-${randomUUID()}`, role: 'member' }
    const theirs = textIn(accepted(await service.post(`/api/teams/${own}/members`, left)), 'api_key')
    accepted(await service.send('DELETE', `/api/teams/${own}/members/${left.user}`))
    assert.match(messageOf(await gateway.complete({}, { key: theirs }), 401), /is in no team/)
    const headers = { 'openai-project': `${own}/project` }
    assert.match(messageOf(await gateway.complete({}, { key: theirs, headers }), 401), /project header/)
  })
})
