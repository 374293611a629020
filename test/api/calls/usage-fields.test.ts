import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { recordCalls, setCosts, someCosts, someModel, startedAt, tokens } from '../prices/given.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted, told } from './given.js'

const greater = (field: string, value: unknown) => ({
  query: { $expr: { $gt: [{ $getField: field }, { $literal: value }] } },
})

const descending = (...fields: readonly string[]) => ({
  sort_by: fields.map((field) => ({ field, direction: 'desc' })),
})

describe('inclusive usage in lists of calls', () => {
  let service: TestService
  let project: string
  let model: string
  before(async () => {
    service = await sharedService()
    project = someProject()
    model = someModel()
    for (const [prompt_token_cost, day] of [
      [1, 1],
      [4, 2],
    ])
      await setCosts(service, project, {
        [model]: someCosts({
          prompt_token_cost,
          completion_token_cost: 0,
          effective_date: `2026-01-0${day}T00:00:00Z`,
        }),
      })
    await recordCalls(service, project, [
      ['root', null, {}, startedAt('2026-01-01T10:00:00Z')],
      ['one', 'root', { [model]: tokens(3, 1) }, startedAt('2026-01-01T11:00:00Z')],
      ['two', 'root', { [model]: tokens(5), other: tokens(7, 7) }, startedAt('2026-01-02T11:00:00Z')],
      ['three', 'two', { other: tokens(1) }, startedAt('2026-01-02T12:00:00Z')],
      ['later', null, { other: tokens(100) }, startedAt('2026-01-05T12:00:00Z', { trace_id: 'other' })],
      ['idle', null, {}, startedAt('2026-01-06T12:00:00Z', { trace_id: 'idle' })],
    ])
  })

  const query = (body: object) => service.in(project).calls.ids({ limit: 100, columns: ['id'], ...body })

  it('sorts calls by tokens of the calls and their descendants', async () => {
    assert.deepEqual(await query(descending('usage.total_tokens')), [
      'later',
      'root',
      'two',
      'one',
      'three',
      'idle',
    ])
    assert.deepEqual(
      await query({
        sort_by: [
          { field: 'usage.completion_tokens', direction: 'asc' },
          { field: 'started_at', direction: 'asc' },
        ],
      }),
      ['three', 'later', 'idle', 'one', 'two', 'root'],
    )
  })

  it('sorts calls by cost, at the price of each call below them', async () => {
    const byCost = descending('usage.total_cost', 'usage.total_tokens')
    assert.deepEqual(await query(byCost), ['root', 'two', 'one', 'later', 'three', 'idle'])
    assert.deepEqual(await query({ ...byCost, offset: 1, limit: 2 }), ['two', 'one'])
    assert.deepEqual(await query({ ...byCost, filter: { trace_roots_only: true } }), [
      'root',
      'later',
      'idle',
    ])
    assert.deepEqual(await query({ ...byCost, ...greater('started_at', '2026-01-02T00:00:00Z') }), [
      'two',
      'later',
      'three',
      'idle',
    ])
  })

  it('filters and counts calls by usage', async () => {
    const costly = greater('usage.total_cost', 3)
    assert.deepEqual(await query(costly), ['root', 'two'])
    assert.deepEqual(await query({ ...costly, limit: 1, offset: 1 }), ['two'])
    assert.deepEqual(await query(greater('usage.prompt_tokens_total_cost', 22.5)), ['root'])
    const counted = await service.in(project).calls.count({ ...greater('usage.total_tokens', 3) })
    assert.equal((accepted(counted) as { count: number }).count, 4)
  })

  it('selects and counts calls by a model that they or their descendants used', async () => {
    const used = ($usedModel: unknown, ...$and: readonly object[]) => ({
      query: { $expr: { $and: [{ $usedModel }, ...$and] } },
    })
    const ids = async (condition: object) => [...(await query(condition))].sort()
    assert.deepEqual(await ids(used('other')), ['later', 'root', 'three', 'two'])
    assert.deepEqual(await ids(used(['other', 'own'])), ['later', 'three', 'two'])
    assert.deepEqual(await ids(used(model)), ['one', 'root', 'two'])
    assert.deepEqual(await ids(used('ot')), [])
    assert.deepEqual(await ids(used('other', { $usedModel: [model, 'own'] })), ['two'])
    assert.deepEqual(await ids(used('other', { $not: [{ $usedModel: model }] })), ['later', 'three'])
    assert.deepEqual(await ids(used('other', greater('usage.total_tokens', 20).query.$expr)), [
      'later',
      'root',
    ])
    assert.deepEqual(await ids({ ...used('other'), filter: { trace_roots_only: true } }), ['later', 'root'])
    const calls = service.in(project).calls
    assert.equal((accepted(await calls.count(used('other'))) as { count: number }).count, 4)
    const span = { project_id: project, start: '2026-01-01T00:00:00Z', end: '2026-01-03T00:00:00Z' }
    const stats = accepted(
      await service.post('/calls/stats', {
        ...{ ...span, ...used(['other', 'own']) },
        ...{ call_metrics: [{ metric: 'call_count' }], usage_metrics: [{ metric: 'requests' }] },
      }),
    )
    const sum = (buckets: unknown, name: string) =>
      (buckets as Record<string, number>[]).reduce((all, bucket) => all + (bucket[name] ?? 0), 0)
    assert.equal(sum(stats['call_buckets'], 'sum_call_count'), 2)
    const usage = accepted(
      await service.post('/usage/query', {
        ...{ project_id: project, group_by: ['model'], usage: 'inclusive', ...used('other') },
      }),
    ) as unknown as { rows: { group: { model: string }; usage: { calls: number } }[] }
    assert.deepEqual(
      usage.rows
        .map(({ group, usage: { calls: count } }) => [group.model === model ? 'model' : group.model, count])
        .sort(),
      [
        ['model', 2],
        ['other', 4],
      ],
    )
    const values = await service.send('GET', `/api/pages/values?project_id=${project}&field=model&contains=O`)
    assert.deepEqual(
      (accepted(values)['data'] as unknown as { value: string; calls: number }[]).map(
        ({ value, calls: count }) => [value === model ? 'model' : value, count],
      ),
      [
        ['other', 3],
        ['model', 2],
      ],
    )
    const refused = await service.post('/feedback/query', { project_id: project, ...used('other') })
    assert.deepEqual(told(refused), ['value_error query'])
  })

  it('includes descendants that end later, and none as of an earlier position', async () => {
    const other = someProject()
    await recordCalls(service, other, [
      ['a', null, { other: tokens(5) }, startedAt('2026-01-01T10:00:00Z', { trace_id: 'a' })],
      ['b', null, { other: tokens(9) }, startedAt('2026-01-01T10:00:00Z', { trace_id: 'b' })],
    ])
    const before = await service.in(other).calls.count()
    const position = before.headers.get('tallytree-position')!
    await recordCalls(service, other, [
      ['a1', 'a', { other: tokens(5) }, startedAt('2026-01-01T11:00:00Z', { trace_id: 'a' })],
    ])
    const ids = async (headers: Readonly<Record<string, string>>) => {
      const body = { project_id: other, limit: 2, ...descending('usage.total_tokens') }
      const { calls } = accepted(await service.post('/calls/query', body, { headers }))
      return (calls as unknown as readonly { id: string }[]).map(({ id }) => id)
    }
    assert.deepEqual(await ids({}), ['a', 'b'])
    assert.deepEqual(await ids({ 'tallytree-as-of': position }), ['b', 'a'])
  })

  it('refuses to read without a limit, because the calls are read at once', async () => {
    const ask = (body: object) =>
      service.in(project).calls.query({ ...descending('usage.total_tokens'), ...body })
    assert.deepEqual(told(await ask({})), ['value_error limit'])
    assert.deepEqual(told(await ask({ limit: 10_001 })), ['value_error limit'])
  })

  it('refuses names that are no figures', async () => {
    for (const field of ['usage', 'usage.tokens', 'usage.total_tokens.x'])
      assert.equal((await service.in(project).calls.query({ limit: 1, ...descending(field) })).status, 403)
  })
})
