import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { TestService } from '../../support/service.js'
import { sharedService } from '../shared-service.js'
import { saying } from '../../support/upstreams/behaviours.js'
import {
  arbitraryCosts,
  arbitraryTokens,
  expectedCost,
  inDecimals,
  priceOf,
  USAGE_FORMS,
} from '../../support/upstreams/random-usages.js'
import { startUpstream, type ScriptedUpstream } from '../../support/upstreams/upstream.js'
import { accepted } from '../calls/given.js'

const COMPLETIONS = 48
const MODELS = 4
const TEAM = 'counting'
const PROJECT = `${TEAM}/inference`

describe('random usages of an upstream', () => {
  let service: TestService
  let upstream: ScriptedUpstream

  before(async () => {
    service = await sharedService()
    upstream = await startUpstream(saying(['Hi']))
  })
  after(async () => {
    await upstream.close()
  })

  it('cost what an independent calculation says, whole and streamed, in answers, records and the budget', async () => {
    await service.teams.create(TEAM).json()
    const key = await service.teams.keyOf(TEAM, 'counter', 'team_administrator')
    const costs = fc.sample(arbitraryCosts, MODELS)
    const models = costs.map((each, at) => ({
      id: `${TEAM}/m${at}`,
      upstream_id: `m${at}`,
      price: priceOf(each),
    }))
    accepted(
      await service.post('/api/inference/upstreams', { name: TEAM, base_url: upstream.baseUrl, models }),
    )
    const limits = `/api/teams/${TEAM}/limits`
    const limit = { scope: { type: 'team' }, budget: { amount: 1e12, period: 'month' } }
    accepted(await service.send('PUT', limits, limit, { key }))

    const expectedByModel = costs.map(() => 0n)
    for (const [at, tokens] of fc.sample(arbitraryTokens, COMPLETIONS).entries()) {
      upstream.behave(saying(['Hi'], USAGE_FORMS[at % USAGE_FORMS.length]!(tokens)))
      const stream = at % 2 === 1
      const place = at % MODELS
      const answer = await service.post(
        '/v1/chat/completions',
        { model: models[place]!.id, stream, max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] },
        { key, headers: { 'openai-project': PROJECT } },
      )
      assert.equal(answer.status, 200, answer.text)
      const expected = expectedCost(tokens, costs[place]!)
      expectedByModel[place]! += expected
      const told = answer.headers.get('tallytree-cost')
      if (stream) assert.equal(told, null)
      else assert.equal(told, shortest(expected))
    }

    const { data } = accepted(await service.send('GET', limits, undefined, { key })) as unknown as {
      data: readonly { used: { budget: { spent: number; reserved: number; unknown: number } } }[]
    }
    const all = expectedByModel.reduce((sum, one) => sum + one, 0n)
    const { spent, reserved, unknown } = data[0]!.used.budget
    assert.deepEqual([spent, reserved, unknown], [Number(inDecimals(all)), 0, 0])

    const query = { project_id: PROJECT, include_costs: true, group_by: ['model'] }
    const { rows } = accepted(await service.post('/usage/query', query)) as unknown as {
      rows: readonly { group: { model: string }; usage: { total_cost: number } }[]
    }
    assert.deepEqual(
      Object.fromEntries(rows.map(({ group, usage }) => [group.model, usage.total_cost])),
      Object.fromEntries(expectedByModel.map((sum, at) => [models[at]!.id, Number(inDecimals(sum))])),
    )
  })
})

/** Decimals without trailing zeros. */
const shortest = (amount: bigint): string => inDecimals(amount).replace(/\.?0+$/, '')
