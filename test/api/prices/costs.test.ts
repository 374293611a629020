import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted, eventsOf, reasonOf, told, writesNothing } from '../calls/given.js'
import { byId, costsOf, setCosts, someCosts, someModel } from './given.js'

const eq = (name: string, $literal: unknown) => ({ $expr: { $eq: [{ $getField: name }, { $literal }] } })

describe('the costs of a project', () => {
  let service: TestService
  before(async () => void (service = await sharedService()))

  it('are read as they were stated, with what was left out', async () => {
    const project = someProject()
    const { plain, full, half } = await setCosts(service, project, {
      plain: { ...someCosts(), effective_date: '2026-01-01T01:00:00+01:00' },
      full: someCosts({
        prompt_token_cost: 2.5e-6,
        cache_read_input_token_cost: 0.00000125,
        cache_creation_input_token_cost: 3,
        prompt_token_cost_unit: 'EUR',
        completion_token_cost_unit: 'GBP',
        effective_date: '2026-01-01T00:00:00.000001Z',
        provider_id: 'somebody',
      }),
      half: someCosts({ cache_read_input_token_cost: 0, cache_creation_input_token_cost: 1 }),
    })
    const cacheCosts = (await costsOf(service, project, { query: byId(half!) })).map((cost) => [
      cost['cache_read_input_token_cost'],
      cost['cache_creation_input_token_cost'],
    ])
    assert.deepEqual(cacheCosts, [[0.5, 1]])
    assert.deepEqual(await costsOf(service, project, { query: byId(plain!, full!) }), [
      {
        id: plain,
        llm_id: 'plain',
        prompt_token_cost: 0.5,
        completion_token_cost: 2,
        cache_read_input_token_cost: 0.5,
        cache_creation_input_token_cost: 0.5,
        cache_creation_1h_input_token_cost: 0.5,
        prompt_token_cost_unit: 'USD',
        completion_token_cost_unit: 'USD',
        effective_date: '2026-01-01T00:00:00.000000Z',
        provider_id: 'default',
      },
      {
        id: full,
        llm_id: 'full',
        prompt_token_cost: 0.0000025,
        completion_token_cost: 2,
        cache_read_input_token_cost: 0.00000125,
        cache_creation_input_token_cost: 3,
        cache_creation_1h_input_token_cost: 3,
        prompt_token_cost_unit: 'EUR',
        completion_token_cost_unit: 'GBP',
        effective_date: '2026-01-01T00:00:00.000001Z',
        provider_id: 'somebody',
      },
    ])
  })

  it("are the prompt's for cached tokens where they are 0, as the Python package sends them", async () => {
    const project = someProject()
    const sent = { cache_read_input_token_cost: 0, cache_creation_input_token_cost: 0 }
    await setCosts(service, project, { sdk: someCosts(sent), rest: someCosts() })
    const of = (model: string) => costsOf(service, project, { query: eq('llm_id', model) })
    const cacheCosts = async (model: string) =>
      (await of(model)).map((cost) => [
        cost['cache_read_input_token_cost'],
        cost['cache_creation_input_token_cost'],
        cost['cache_creation_1h_input_token_cost'],
      ])
    assert.deepEqual(await cacheCosts('sdk'), [[0.5, 0.5, 0.5]])
    assert.deepEqual(await cacheCosts('rest'), [[0.5, 0.5, 0.5]])
  })

  it('are created under an X-Weave-Retry-Id that an earlier request had', async () => {
    const project = someProject()
    const options = { headers: { 'X-Weave-Retry-Id': randomUUID() } }
    for (const model of ['one', 'other'])
      await service
        .in(project)
        .with(options)
        .costs.create({ costs: { [model]: someCosts() } })
        .json()
    const models = (await costsOf(service, project)).map(({ llm_id }) => llm_id)
    assert.deepEqual(models.sort(), ['one', 'other'])
  })

  it('are selected by any of their fields, sorted, cut and shown in part', async () => {
    const project = someProject()
    const costs = Object.fromEntries(
      [1, 2, 3, 4].map((n) => [`m${n}`, someCosts({ prompt_token_cost: n * 2.5e-6 })]),
    )
    const ids = await setCosts(service, project, costs)
    const models = async (more: object) => (await costsOf(service, project, more)).map(({ llm_id }) => llm_id)
    assert.deepEqual(await models({ query: eq('llm_id', 'm2') }), ['m2'])
    assert.deepEqual(await models({ query: eq('prompt_token_cost', 7.5e-6) }), ['m3'])
    assert.deepEqual(await models({ query: eq('provider_id', 'nobody') }), [])
    assert.deepEqual(await models({ query: byId(ids['m4']!, ids['m1']!) }), ['m1', 'm4'])
    const since = { $expr: { $gt: [{ $getField: 'effective_date' }, { $literal: '2026-01-01' }] } }
    assert.deepEqual(await models({ query: since, limit: 2 }), ['m1', 'm2'])
    const sort_by = [{ field: 'prompt_token_cost', direction: 'desc' }]
    assert.deepEqual(await models({ sort_by, limit: 2, offset: 1 }), ['m3', 'm2'])
    const repeated = [...sort_by, { field: 'llm_id', direction: 'asc' }, { ...sort_by[0], direction: 'asc' }]
    assert.deepEqual(await models({ sort_by: repeated, limit: 1 }), ['m4'])
    const [first] = await costsOf(service, project, { fields: ['llm_id', 'provider_id'] })
    assert.deepEqual(
      Object.entries(first!).filter(([, value]) => value !== null),
      [
        ['llm_id', 'm1'],
        ['provider_id', 'default'],
      ],
    )
    for (const more of [
      { fields: ['owner'] },
      { query: eq('owner', 'x') },
      { sort_by: [{ field: 'published_position', direction: 'asc' }] },
    ])
      reasonOf(await service.in(project).costs.query(more), 403)
  })

  it('said again write nothing and keep their ids, with a date, without one and under a key', async () => {
    const project = someProject()
    const [dated, undated] = [someModel(), someModel()]
    const costs = { [dated]: someCosts({ effective_date: '2026-01-01T00:00:00Z' }), [undated]: someCosts() }
    const first = await setCosts(service, project, costs)
    await writesNothing(service, async () => assert.deepEqual(await setCosts(service, project, costs), first))

    const headers = { 'idempotency-key': randomUUID() }
    const ask = (prompt_token_cost: number) =>
      service
        .in(project)
        .with({ headers })
        .costs.create({ costs: { other: someCosts({ prompt_token_cost }) } })
    const { ids } = accepted(await ask(1))
    await writesNothing(service, async () => {
      assert.deepEqual(accepted(await ask(1))['ids'], ids)
      reasonOf(await ask(2), 409)
    })
  })

  it('are made with pairs of id and model, and found and purged by these ids', async () => {
    const { costs } = service.in(someProject())
    const { ids } = await costs.create({ costs: { m1: someCosts(), m2: someCosts() } }).json()
    assert.deepEqual(
      ids.map(([, model]: [string, string]) => model),
      ['m1', 'm2'],
    )
    const query = byId(ids[0][0])
    const found = async () => (await costs.query({ query }).json()).results as readonly JsonObject[]
    assert.deepEqual(
      (await found()).map(({ llm_id }) => llm_id),
      ['m1'],
    )
    await costs.purge({ query }).json()
    assert.deepEqual(await found(), [])
  })

  it('are purged by their ids alone, once', async () => {
    const project = someProject()
    const { a, b, c } = await setCosts(service, project, { a: someCosts(), b: someCosts(), c: someCosts() })
    const { costs } = service.in(project)
    const purge = (query: object) => costs.purge({ query })
    for (const query of [
      eq('llm_id', 'a'),
      eq('id', 7),
      { $expr: { $not: [eq('id', a).$expr] } },
      { $expr: { $and: [eq('id', a).$expr] } },
    ])
      assert.match(reasonOf(await purge(query), 400), /only purged by id/)
    assert.deepEqual(told(await costs.purge()), ['missing query'])
    const either = { $expr: { $or: [eq('id', a).$expr, byId(b!, 'unknown').$expr] } }
    assert.deepEqual(accepted(await purge(either)), {})
    assert.deepEqual(
      (await costsOf(service, project)).map(({ id }) => id),
      [c],
    )
    await writesNothing(service, async () => void accepted(await purge(either)))
    const again = await setCosts(service, project, { a: someCosts() })
    assert.notEqual(again['a'], a)
  })

  it('are refused with the place of what is wrong, all of them or none', async () => {
    const project_id = someProject()
    const create = (costs: unknown, more: object = {}) =>
      service.in(project_id).costs.create({ costs, ...more })
    const { completion_token_cost: _, ...incomplete } = someCosts()
    await writesNothing(service, async () => {
      assert.deepEqual(told(await create({ good: someCosts(), bad: incomplete })), [
        'missing costs.bad.completion_token_cost',
      ])
      const wrong = { prompt_token_cost: -1, completion_token_cost: '1', effective_date: 'soon' }
      assert.deepEqual(told(await create({ m: wrong })), [
        'greater_than_equal costs.m.prompt_token_cost',
        'float_type costs.m.completion_token_cost',
        'datetime_from_date_parsing costs.m.effective_date',
      ])
      assert.deepEqual(told(await create({ m: someCosts({ prompt_token_cost: 1e13 }) })), [
        'less_than_equal costs.m.prompt_token_cost',
      ])
      assert.deepEqual(told(await create({ ['x'.repeat(1025)]: someCosts() })), [
        `string_too_long costs.${'x'.repeat(64)}`,
      ])
      const many = Object.fromEntries(Array.from({ length: 1001 }, (__, n) => [`m${n}`, someCosts()]))
      assert.deepEqual(told(await create(many)), ['too_long costs'])
      assert.deepEqual(told(await create([])), ['dict_type costs'])
      assert.deepEqual(told(await create({}, { more: 1 })), ['extra_forbidden more'])
    })
    assert.deepEqual(accepted(await create({})), { ids: [] })
  })

  it('are refused with 413, all of them, when they are more than one append can hold', async () => {
    const costs = Object.fromEntries(
      Array.from({ length: 1000 }, (_, n) => [`${n}`.padEnd(1000, 'm'), someCosts()]),
    )
    const body = { project_id: someProject(), costs }
    await setCosts(service, body.project_id, { m: someCosts() })

    await writesNothing(service, async () => {
      const { status, text } = await service.post('/cost/create', body)
      assert.equal(status, 413)
      assert.match(text, /more than 1 MiB/)
    })
  })

  it('stand in the log with who said them, whoever the client says it was', async () => {
    const project_id = someProject()
    await service.in(project_id).costs.create({ costs: { m: someCosts() }, wb_user_id: 'somebody else' })
    const [published] = await eventsOf(service, `price-${project_id}`)
    assert.equal(published?.type, 'PricePublished')
    assert.equal(published.data['created_by'], published.metadata.actor)
    assert.equal(published.data['prompt_token_cost'], '0.5')
  })
})
