import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { accepted } from '../calls/given.js'
import { sharedService } from '../shared-service.js'

describe('the prices that apply to a project', () => {
  let service: TestService
  const project = `prices-${randomUUID().slice(0, 8)}/project`
  before(async () => {
    service = await sharedService()
    const costs = (prompt_token_cost: number, effective_date: string) => ({
      prompt_token_cost,
      completion_token_cost: 0.000002,
      effective_date,
    })
    for (const [model, cost, date] of [
      ['our-model', 0.000001, '2026-01-01T00:00:00Z'],
      ['our-model', 0.000003, '2026-02-01T00:00:00Z'],
      ['our-model', 0.000009, '2199-01-01T00:00:00Z'],
      ['our-other-model', 0.000004, '2199-01-01T00:00:00Z'],
    ] as const)
      accepted(
        await service.post('/cost/create', { project_id: project, costs: { [model]: costs(cost, date) } }),
      )
  })

  const list = async (query = ''): Promise<JsonObject> =>
    accepted(await service.send('GET', `/api/prices?project_id=${project}${query}`))
  const rows = async (query: string) => (await list(query))['data'] as JsonObject[]

  it('are the last ones in force, or else the next ones', async () => {
    assert.deepEqual(
      (await rows('&q=OUR-')).map(({ model, prompt_token_cost, source, since }) => [
        model,
        prompt_token_cost,
        source,
        since,
      ]),
      [
        ['our-model', '0.000003', 'project', '2026-02-01T00:00:00.000000Z'],
        ['our-other-model', '0.000004', 'project', '2199-01-01T00:00:00.000000Z'],
      ],
    )
    assert.deepEqual(await rows('&q=no-such-model'), [])
  })

  it('include the default list, in pages', async () => {
    const first = await list('&limit=3')
    assert.equal((first['data'] as unknown[]).length, 3)
    const second = await list(`&limit=3&after=${encodeURIComponent(first['next'] as string)}`)
    const models = [...(first['data'] as JsonObject[]), ...(second['data'] as JsonObject[])].map(
      ({ model }) => model as string,
    )
    assert.deepEqual(models, [...new Set(models)].sort())
    assert.ok((await rows('&q=gpt-4o&limit=1000')).some(({ source }) => source === 'default'))
  })
})
