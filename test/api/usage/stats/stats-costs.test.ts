import assert from 'node:assert/strict'
import type { Answered } from '../../../support/client.js'
import type { TestService } from '../../../support/service.js'
import {
  recordCalls,
  recordManyTokens,
  setCosts,
  someCosts,
  someModel,
  tokens,
  unpricedIn,
} from '../../prices/given.js'
import { sharedService, someProject } from '../../shared-service.js'
import { accepted, reasonOf, told } from '../../calls/given.js'

const DAY = { start: '2026-01-01T00:00:00Z', end: '2026-01-02T00:00:00Z', granularity: 'day' }
const COSTS = ['input_cost', 'output_cost', 'total_cost'].map((metric) => ({ metric }))

describe('statistics of costs', () => {
  let service: TestService
  before(async () => void (service = await sharedService()))

  const stats = (project_id: string, more: object = {}, headers = {}) =>
    service
      .in(project_id)
      .with({ headers })
      .calls.stats({ ...DAY, usage_metrics: COSTS, ...more })

  /** Sums of costs of prompts, of completions and of both, by model. */
  const costsIn = (answer: Answered) => {
    const { usage_buckets } = accepted(answer) as { usage_buckets: Record<string, unknown>[] }
    return Object.fromEntries(
      usage_buckets.map((bucket) => [
        bucket['model'],
        COSTS.map(({ metric }) => {
          assert.equal(bucket[`${metric}_sum`], bucket[`sum_${metric}`])
          return bucket[`${metric}_sum`]
        }),
      ]),
    )
  }

  it('are those of what calls used themselves, of a cache too, each at the price of when it began', async () => {
    const [project, model] = [someProject(), someModel()]
    const dated = (prompt_token_cost: number, effective_date: string) =>
      setCosts(service, project, {
        [model]: someCosts({
          prompt_token_cost,
          effective_date,
          cache_read_input_token_cost: 0.25,
          cache_creation_input_token_cost: 8,
        }),
      })
    await dated(1, '2026-01-01T00:00:00Z')
    await dated(16, '2026-01-01T12:00:00Z')
    const sdk = (started_at: string) => ({
      attributes: { weave: { source: 'js-sdk' } },
      started_at,
      ended_at: '2026-01-03T00:00:00Z',
    })
    const cached = { cache_read_input_tokens: 4, cache_creation_input_tokens: 2 }
    await recordCalls(service, project, [
      ['root', null, { [model]: tokens(15, 3) }, sdk('2026-01-01T00:00:00Z')],
      ['early', 'root', { [model]: tokens(5, 3) }, sdk('2026-01-01T11:59:59.999999Z')],
      ['late', 'root', { [model]: tokens(10, 0) }, sdk('2026-01-01T12:00:00Z')],
      ['cached', null, { [model]: tokens(7, 1, cached) }, { started_at: '2026-01-01T01:00:00Z' }],
    ])
    assert.deepEqual(costsIn(await stats(project)), { [model]: [5 + 160 + 1 + 1 + 16, 8, 191] })

    const halves = accepted(
      await stats(project, {
        granularity: 12 * 3600,
        usage_metrics: [
          { metric: 'total_cost', aggregations: ['avg', 'min', 'max', 'count'], percentiles: [50] },
        ],
      }),
    )['usage_buckets'] as readonly Record<string, unknown>[]
    assert.deepEqual(
      halves.map((half) => ['avg', 'min', 'max', 'count', 'p50'].map((name) => half[`total_cost_${name}`])),
      [
        [15.5, 11, 20, 2, 15.5],
        [160, 160, 160, 1, 160],
      ],
    )
  })

  it('have the digits that usage has of the same calls', async () => {
    const [project, model] = [someProject(), someModel()]
    await recordManyTokens(service, project, model)
    const given = { project_id: project, call_ids: ['c0'], include_costs: true }
    const { text: usage } = await service.post('/calls/usage', given)
    const { text } = await stats(project)
    const digits = (name: string, of: string) => new RegExp(`"${name}":([^,}]+)`).exec(of)?.[1]
    assert.equal(digits('input_cost_sum', text), digits('prompt_tokens_total_cost', usage))
    assert.equal(digits('output_cost_sum', text), digits('completion_tokens_total_cost', usage))
    assert.equal(digits('input_cost_sum', text), '43.5')
    assert.equal(digits('total_cost_sum', text), '16888498602638533.5')
  })

  it('are null without a price, and the answer names such models among those of the calls that are meant', async () => {
    const [project, model] = [someProject(), someModel()]
    await setCosts(service, project, { [model]: someCosts() })
    await recordCalls(service, project, [
      ['root', null, { [model]: tokens(1, 0), 'no requests, no tokens': { requests: 1 } }],
      ['child', 'root', { 'größe, 1+1': tokens(1, 0), b: tokens(0, 1) }],
    ])
    const all = await stats(project)
    assert.equal(all.headers.get('tallytree-unpriced-models'), '2')
    assert.deepEqual(unpricedIn(all), [['b', 'größe, 1+1'], 2])
    assert.deepEqual(costsIn(all)['b'], [null, null, null])
    assert.deepEqual(unpricedIn(await stats(project, { filter: { call_ids: ['root'] } })), [[], 0])
    const query = { $expr: { $eq: [{ $getField: 'id' }, { $literal: 'root' }] } }
    const one = await stats(project, { query })
    assert.deepEqual(unpricedIn(one), [[], 0])
    assert.deepEqual(costsIn(one), { [model]: [0.5, 0, 0.5], 'no requests, no tokens': [0, 0, 0] })
    const without = await stats(project, { usage_metrics: [{ metric: 'requests' }] })
    assert.deepEqual(unpricedIn(without), [undefined, undefined])
  })

  it('may be by another list alone, which has to be there, and costs have to be asked for', async () => {
    const [project, model, other] = [someProject(), someModel(), someModel()]
    const list = `list-${someModel()}`
    const listed = { llm_id: model, effective_date: '2026-01-01T00:00:00Z', ...someCosts() }
    const file = { list, version: '1', source: 'a test', prices: [{ ...listed, prompt_token_cost: 64 }] }
    accepted(await service.post('/api/admin/prices', file))
    await setCosts(service, project, { [model]: someCosts(), [other]: someCosts() })
    await recordCalls(service, project, [['c', null, { [model]: tokens(1, 1), [other]: tokens(1, 1) }]])
    assert.deepEqual(costsIn(await stats(project)), { [model]: [0.5, 2, 2.5], [other]: [0.5, 2, 2.5] })
    const under = await stats(project, { price_list: list })
    assert.deepEqual(costsIn(under), { [model]: [64, 2, 66], [other]: [null, null, null] })
    assert.deepEqual(unpricedIn(under), [[other], 1])

    const refused = async (more: object) => told(await stats(project, more))
    assert.deepEqual(await refused({ price_list: 'unknown' }), ['value_error price_list'])
    assert.deepEqual(await refused({ price_list: project }), ['string_pattern_mismatch price_list'])
    for (const usage_metrics of [null, [], [{ metric: 'requests' }]])
      assert.deepEqual(await refused({ price_list: list, usage_metrics }), ['value_error price_list'])
    const before = { 'Tallytree-As-Of': '0' }
    assert.deepEqual(told(await stats(project, { price_list: list }, before)), ['value_error price_list'])
  })

  it('are as of a position: prices, calls and feedback that came later are not known', async () => {
    const [project, model] = [someProject(), someModel()]
    const head = () => service.stores.eventStore.head()
    const at = async (position: bigint, more: object = {}) =>
      costsIn(await stats(project, more, { 'Tallytree-As-Of': String(position) }))[model]
    const judged = {
      query: { $expr: { $eq: [{ $getField: 'feedback.[note].payload.good' }, { $literal: true }] } },
    }
    await setCosts(service, project, { [model]: someCosts() })
    await recordCalls(service, project, [['c', null, { [model]: tokens(2, 0) }]])
    const recorded = await head()
    const { [model]: id } = await setCosts(service, project, { [model]: someCosts({ prompt_token_cost: 8 }) })
    const repriced = await head()
    await recordCalls(service, project, [['d', null, { [model]: tokens(1, 0) }]])
    const twice = await head()
    const weave_ref = `weave:///${project}/call/d`
    const note = { project_id: project, weave_ref, feedback_type: 'note', payload: { good: true } }
    accepted(await service.post('/feedback/create', note))
    assert.notEqual(id, undefined)
    assert.deepEqual(
      [await at(recorded), await at(repriced), await at(twice)],
      [
        [1, 0, 1],
        [16, 0, 16],
        [24, 0, 24],
      ],
    )
    assert.equal(await at(twice, judged), undefined)
    assert.deepEqual(await at(await head(), judged), [8, 0, 8])
  })

  it('of a query on a field that calls do not have are refused, whatever is asked', async () => {
    const query = { $expr: { $eq: [{ $getField: 'nothing' }, { $literal: 1 }] } }
    for (const usage_metrics of [null, COSTS])
      assert.equal(
        reasonOf(await stats(someProject(), { query, usage_metrics }), 403),
        'Field nothing is not allowed',
      )
  })
})
