import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted } from '../calls/given.js'
import { recordCalls, setCosts, someCosts, someModel } from './given.js'

const costsIn = (call: unknown): unknown =>
  ((call as JsonObject)['summary'] as { weave?: JsonObject }).weave?.['costs']

describe('calls read with costs', () => {
  let service: TestService
  before(async () => void (service = await sharedService()))

  it('say in their summary, as it was written, what each priced model cost and by which price', async () => {
    const [project_id, model] = [someProject(), someModel()]
    await setCosts(service, project_id, {
      [model]: someCosts({
        cache_read_input_token_cost: 0.25,
        cache_creation_input_token_cost: 8,
        effective_date: '2025-01-01T00:00:00Z',
      }),
    })
    const usage = {
      prompt_tokens: 8,
      input_tokens: 2,
      completion_tokens: '3',
      requests: 1,
      cache_read_input_tokens: 4,
      cache_creation_input_tokens: 1,
    }
    await recordCalls(service, project_id, [
      ['root', null, { [model]: usage, unknown: { prompt_tokens: 1 }, odd: 7 }],
      ['child', 'root', { [model]: usage }],
      ['none', null, { unknown: { prompt_tokens: 1 } }],
    ])

    const read = async (id: string, more: object = { include_costs: true }) =>
      await service.in(project_id).calls.read(id, more)
    const { created_at, created_by, ...rest } = (costsIn(await read('root')) as Record<string, JsonObject>)[
      model
    ]!
    assert.equal(typeof created_at, 'string')
    assert.equal(created_by, 'admin')
    assert.deepEqual(Object.keys(costsIn(await read('root')) as object), [model])
    assert.deepEqual(rest, {
      prompt_tokens: 10,
      completion_tokens: 3,
      requests: 1,
      total_tokens: 13,
      cache_read_input_tokens: 4,
      cache_creation_input_tokens: 1,
      prompt_token_cost: 0.5,
      completion_token_cost: 2,
      cache_read_input_token_cost: 0.25,
      cache_creation_input_token_cost: 8,
      prompt_tokens_total_cost: 2.5,
      completion_tokens_total_cost: 6,
      cache_read_input_tokens_total_cost: 1,
      cache_creation_input_tokens_total_cost: 8,
      prompt_token_cost_unit: 'USD',
      completion_token_cost_unit: 'USD',
      effective_date: '2025-01-01T00:00:00.000000Z',
      provider_id: 'default',
      pricing_level: 'project',
      pricing_level_id: project_id,
    })
    assert.equal(costsIn(await read('none')), undefined)
    assert.equal(costsIn(await read('root', {})), undefined)

    const query = { project_id, include_costs: true, columns: ['id'] }
    const { calls } = accepted(await service.post('/calls/query', query)) as unknown as {
      calls: JsonObject[]
    }
    assert.deepEqual(
      calls.map((call) => [call['id'], costsIn(call) !== undefined, call['ended_at'] !== null]),
      [
        ['child', true, true],
        ['none', false, true],
        ['root', true, true],
      ],
    )
    const streamed = await service.post('/calls/stream_query', query)
    assert.deepEqual(
      streamed.text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
      calls,
    )
  })

  it('tell of the default list that a price is of that', async () => {
    const project_id = someProject()
    const at = { started_at: '2025-01-01T00:00:00Z' }
    await recordCalls(service, project_id, [['c', null, { 'gpt-4o': { prompt_tokens: 1_000_000 } }, at]])
    const { call } = accepted(await service.post('/call/read', { project_id, id: 'c', include_costs: true }))
    const cost = (costsIn(call) as Record<string, JsonObject>)['gpt-4o']!
    assert.deepEqual(
      [cost['prompt_tokens_total_cost'], cost['pricing_level'], cost['pricing_level_id'], cost['created_by']],
      [2.5, 'default', 'default', 'system'],
    )
  })
})
