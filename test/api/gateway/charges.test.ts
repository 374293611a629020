import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { startTestService, type TestService } from '../../support/service.js'
import { saying } from '../../support/upstreams/behaviours.js'
import { startUpstream, type ScriptedUpstream } from '../../support/upstreams/upstream.js'
import { accepted } from '../calls/given.js'
import { setCosts } from '../prices/given.js'

const PRICES = {
  priced: {
    prompt_token_cost: '0.001',
    completion_token_cost: '0.01',
    cache_read_input_token_cost: '0.0002',
    cache_creation_input_token_cost: '0.003',
    cache_creation_1h_input_token_cost: '0.004',
  },
  plain: { prompt_token_cost: '0.002', completion_token_cost: '0.03' },
}

const count = fc.integer({ min: 1, max: 50 })

/** What upstreams report that speak the protocol, and what those add that serve models of other providers. */
const report: fc.Arbitrary<JsonObject> = fc.oneof(
  fc
    .tuple(count, count)
    .map(([prompt, completion]) => ({
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
    })),
  fc
    .tuple(count, count, count, count)
    .map(([prompt, completion, cached, reasoning]) => ({
      prompt_tokens: prompt + cached,
      completion_tokens: completion + reasoning,
      total_tokens: prompt + cached + completion + reasoning,
      prompt_tokens_details: { cached_tokens: cached },
      completion_tokens_details: { reasoning_tokens: reasoning },
    })),
  fc
    .tuple(count, count, count, count)
    .map(([input, output, read, creation]) => ({
      input_tokens: input,
      output_tokens: output,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: creation,
    })),
  fc
    .tuple(count, count, count)
    .map(([prompt, completion, reasoning]) => ({
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion + reasoning,
    })),
)

describe('what completions are charged', () => {
  let service: TestService
  let upstream: ScriptedUpstream

  before(async () => {
    service = await startTestService()
    upstream = await startUpstream(saying(['Hi']))
    const models = Object.entries(PRICES).map(([id, price]) => ({ id, upstream_id: id, price }))
    accepted(
      await service.post('/api/inference/upstreams', { name: 'up', base_url: upstream.baseUrl, models }),
    )
  })
  after(async () => {
    await service.stop()
    await upstream.close()
  })

  it('is what usage queries say that they cost, for any report, whole or streamed', async () => {
    const completion = fc.record({ model: fc.constantFrom('priced', 'plain'), report, stream: fc.boolean() })
    const completions = fc.array(completion, { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(completions, async (all) => {
        const team = `team-${randomUUID().slice(0, 8)}`
        const project = `${team}/inference`
        await service.teams.create(team).json()
        const key = await service.teams.keyOf(team, `user-of-${team}`, 'team_administrator')
        const numbers = Object.fromEntries(
          Object.entries(PRICES).map(([model, price]) => [
            model,
            Object.fromEntries(Object.entries(price).map(([name, cost]) => [name, Number(cost)])),
          ]),
        )
        await setCosts(service, project, numbers)
        const limit = { scope: { type: 'team' }, budget: { amount: 100, period: 'month' } }
        accepted(await service.send('PUT', `/api/teams/${team}/limits`, limit, { key }))

        for (const { model, report: usage, stream } of all) {
          upstream.behave(saying(['Hi'], usage))
          const body = { model, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 300, stream }
          const headers = { 'openai-project': project }
          const answer = await service.post('/v1/chat/completions', body, { key, headers })
          assert.equal(answer.status, 200, answer.text)
        }
        const { data } = accepted(
          await service.send('GET', `/api/teams/${team}/limits`, undefined, { key }),
        ) as unknown as { data: readonly { used: { budget: { spent: number; unknown: number } } }[] }
        const { totals } = accepted(
          await service.post('/usage/query', { project_id: project, include_costs: true }),
        ) as unknown as { totals: { usage: { total_cost: number } } }
        const { spent, unknown } = data[0]!.used.budget
        assert.equal(unknown, 0)
        assert.equal(spent.toFixed(9), totals.usage.total_cost.toFixed(9))
      }),
      { numRuns: 10, endOnFailure: true },
    )
  })
})
