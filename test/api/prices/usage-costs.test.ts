import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted, told } from '../calls/given.js'
import {
  byId,
  costsIn,
  recordCalls,
  recordManyTokens,
  setCosts,
  someCosts,
  someModel,
  tokens,
  unpricedIn,
} from './given.js'

describe('usage with costs', () => {
  let service: TestService
  before(async () => void (service = await sharedService()))

  const usage = (project_id: string, more: object = {}) =>
    service.in(project_id).usage.ofTraces({ include_costs: true, ...more })

  it('has the cost of a call and of everything below it, each by its own usage', async () => {
    const [project, small, large] = [someProject(), someModel(), someModel()]
    await setCosts(service, project, { [small]: someCosts(), [large]: someCosts({ prompt_token_cost: 4 }) })
    await recordCalls(service, project, [
      ['root', null, { [small]: tokens(10, 5) }],
      ['child', 'root', { [small]: { input_tokens: 2, output_tokens: 3 } }],
      ['other', 'root', { [large]: tokens(7, 0) }],
      ['grandchild', 'child', { [small]: tokens(1, 1) }],
      ['odd', null, 'oops' as unknown as object],
    ])
    const answer = await usage(project)
    assert.deepEqual(costsIn(answer, 'root'), { [small]: [6.5, 18, 0, 0], [large]: [28, 0, 0, 0] })
    assert.deepEqual(costsIn(answer, 'child'), { [small]: [1.5, 8, 0, 0] })
    assert.deepEqual(costsIn(answer, 'odd'), {})
    assert.equal(answer.headers.get('tallytree-unpriced-models'), null)
    const given = { project_id: project, call_ids: ['root', 'nobody'], include_costs: true }
    assert.deepEqual(costsIn(await service.post('/calls/usage', given), 'root'), costsIn(answer, 'root'))
    const without = await service.in(project).usage.ofTraces()
    assert.deepEqual(costsIn(without, 'child'), { [small]: [null, null, null, null] })
  })

  it('charges what was read from a cache or written to one at its own price, and the rest never below 0', async () => {
    const [project, model] = [someProject(), someModel()]
    await setCosts(service, project, {
      [model]: someCosts({ cache_read_input_token_cost: 0.25, cache_creation_input_token_cost: 8 }),
    })
    const cached = { cache_read_input_tokens: 6, cache_creation_input_tokens: 2 }
    await recordCalls(service, project, [
      ['within', null, { [model]: tokens(10, 0, cached) }],
      ['beyond', null, { [model]: tokens(4, 0, cached) }],
    ])
    const answer = await usage(project)
    assert.deepEqual(costsIn(answer, 'within'), { [model]: [1, 0, 1.5, 16] })
    assert.deepEqual(costsIn(answer, 'beyond'), { [model]: [2, 0, 1.5, 16] })
  })

  it("charges cached tokens at the prompt's price where the price states none, under any provider's names", async () => {
    const [project, model] = [someProject(), someModel()]
    await setCosts(service, project, { [model]: someCosts() })
    await recordCalls(service, project, [
      ['plain', null, { [model]: tokens(10, 0) }],
      ['read', null, { [model]: tokens(10, 0, { prompt_tokens_details: { cached_tokens: 6 } }) }],
      ['written', null, { [model]: tokens(10, 0, { cacheReadInputTokens: 2, cacheWriteInputTokens: 4 }) }],
    ])
    const answer = await usage(project)
    assert.deepEqual(costsIn(answer, 'plain'), { [model]: [5, 0, 0, 0] })
    assert.deepEqual(costsIn(answer, 'read'), { [model]: [2, 0, 3, 0] })
    assert.deepEqual(costsIn(answer, 'written'), { [model]: [2, 0, 1, 2] })
  })

  it('counts nothing twice that an SDK had added to a parent, and prices each call by when it started', async () => {
    const [project, model] = [someProject(), someModel()]
    const dated = (prompt_token_cost: number, effective_date: string) =>
      setCosts(service, project, { [model]: someCosts({ prompt_token_cost, effective_date }) })
    await dated(1, '2026-01-01T00:00:00Z')
    await dated(16, '2026-01-02T00:00:00Z')
    const sdk = (at: string) => ({
      attributes: { weave: { source: 'js-sdk' } },
      started_at: at,
      ended_at: '2026-01-03T00:00:00Z',
    })
    await recordCalls(service, project, [
      ['root', null, { [model]: tokens(5, 0) }, sdk('2026-01-01T00:00:00Z')],
      ['early', 'root', { [model]: tokens(2, 0) }, sdk('2026-01-01T23:59:59.999999Z')],
      ['late', 'root', { [model]: tokens(3, 0) }, sdk('2026-01-02T00:00:00Z')],
    ])
    assert.deepEqual(costsIn(await usage(project), 'root'), { [model]: [50, 0, 0, 0] })
  })

  it('has exact costs beyond 2^53 of a cost unit, for up to 2^53 tokens', async () => {
    const [project, model] = [someProject(), someModel()]
    await recordManyTokens(service, project, model)
    const { text } = await usage(project, { filter: { call_ids: ['c0'] } })
    assert.match(text, /"prompt_tokens_total_cost":43\.5,"completion_tokens_total_cost":16888498602638490,/)
  })

  it('names the models whose tokens had no price, and has no costs for them', async () => {
    const [project, model] = [someProject(), someModel()]
    await setCosts(service, project, { [model]: someCosts() })
    await recordCalls(service, project, [
      ['root', null, { [model]: tokens(1, 0), 'no requests, no tokens': { requests: 1 } }],
      ['child', 'root', { 'größe, 1+1': tokens(1, 0), b: tokens(0, 1) }],
    ])
    const answer = await usage(project, { filter: { call_ids: ['root'] } })
    assert.equal(answer.headers.get('tallytree-unpriced-models'), '2')
    assert.deepEqual(unpricedIn(answer), [['b', 'größe, 1+1'], 2])
    assert.deepEqual(costsIn(answer, 'root')['b'], [null, null, null, null])
    assert.deepEqual(costsIn(answer, 'root')['no requests, no tokens'], [0, 0, 0, 0])
    assert.deepEqual(unpricedIn(await service.in(project).usage.ofTraces()), [undefined, undefined])

    const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`model-${n}-xx`, tokens(1, 0)]))
    await recordCalls(service, project, [['many', null, many]])
    const [names, count] = unpricedIn(await usage(project))
    assert.deepEqual([(names as readonly string[]).length, count], [100, 502])
  })

  it('knows the default list, before which a price of the project goes', async () => {
    const project = someProject()
    const at = { started_at: '2025-01-01T00:00:00Z' }
    await recordCalls(service, project, [['c', null, { 'gpt-4o-mini': tokens(1_000_000, 0) }, at]])
    assert.deepEqual(costsIn(await usage(project), 'c')['gpt-4o-mini'], [0.15, 0, 0, 0])
    const { 'gpt-4o-mini': id } = await setCosts(service, project, {
      'gpt-4o-mini': someCosts({ effective_date: '2024-01-01T00:00:00Z' }),
    })
    assert.deepEqual(costsIn(await usage(project), 'c')['gpt-4o-mini'], [500_000, 0, 0, 0])
    await service
      .in(project)
      .costs.purge({ query: byId(id!) })
      .json()
    assert.deepEqual(costsIn(await usage(project), 'c')['gpt-4o-mini'], [0.15, 0, 0, 0])
  })

  it('follows each new price at once', async () => {
    const [project, model] = [someProject(), someModel()]
    const calls = Array.from({ length: 50 }, (_, n) => [`c${n}`, n === 0 ? null : 'c0'] as const)
    await recordCalls(
      service,
      project,
      calls.map(([id, parent]) => [id, parent, { [model]: tokens(1, 0) }]),
    )
    const whole = { filter: { trace_ids: ['t'] } }
    for (const prompt_token_cost of [1, 2, 4]) {
      await setCosts(service, project, { [model]: someCosts({ prompt_token_cost }) })
      assert.deepEqual(costsIn(await usage(project, whole), 'c0')[model], [50 * prompt_token_cost, 0, 0, 0])
      const without = await service.in(project).usage.ofTraces(whole)
      assert.deepEqual(costsIn(without, 'c0')[model], [null, null, null, null])
    }
  })

  it('says what it would have cost under another list alone', async () => {
    const [project, model, other] = [someProject(), someModel(), someModel()]
    const list = `list-${someModel()}`
    const listed = { llm_id: model, effective_date: '2026-01-01T00:00:00Z', ...someCosts() }
    const file = { list, version: '1', source: 'a test', prices: [{ ...listed, prompt_token_cost: 64 }] }
    accepted(await service.post('/api/admin/prices', file))
    await setCosts(service, project, { [model]: someCosts(), [other]: someCosts() })
    await recordCalls(service, project, [['c', null, { [model]: tokens(1, 1), [other]: tokens(1, 1) }]])
    assert.deepEqual(costsIn(await usage(project), 'c'), { [model]: [0.5, 2, 0, 0], [other]: [0.5, 2, 0, 0] })
    const under = await usage(project, { price_list: list })
    const nothing = [null, null, null, null]
    assert.deepEqual(costsIn(under, 'c'), { [model]: [64, 2, 0, 0], [other]: nothing })
    assert.deepEqual(unpricedIn(under), [[other], 1])

    assert.deepEqual(told(await usage(project, { price_list: 'unknown' })), ['value_error price_list'])
    assert.deepEqual(told(await usage(project, { price_list: project })), [
      'string_pattern_mismatch price_list',
    ])
    const alone = { project_id: project, price_list: list }
    assert.deepEqual(told(await service.post('/trace/usage', alone)), ['value_error price_list'])
  })
})
