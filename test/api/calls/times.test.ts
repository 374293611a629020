import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { scorerObject } from '../evaluations/logged-run.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted, told } from './given.js'

const RANGE = { start: '2026-01-01T00:00:00Z', end: '2026-01-02T00:00:00Z' }
const field = ($getField: string) => ({ $getField })
const literal = ($literal: unknown) => ({ $literal })

describe('a literal that a time is compared with', () => {
  let service: TestService
  let project: string

  before(async () => {
    service = await sharedService()
    project = someProject()
    const calls = [0, 1, 2].map((second) => ({
      id: `c${second}`,
      trace_id: `c${second}`,
      op_name: 'answer',
      started_at: `2026-01-01T00:00:1${second}.000001Z`,
      ended_at: `2026-01-01T00:00:2${second}Z`,
    }))
    accepted(await service.in(project).calls.complete(calls))
  })

  const NO_TIMES = [
    'yesterday',
    '01/02/2026',
    '2026-1-1',
    '2026-13-01T00:00:00Z',
    '2026-02-30',
    '2026-01-01T25:00:00Z',
    '1767225610000',
    '1767225610',
    'now',
    ' ',
    true,
    false,
    [],
    { a: 1 },
  ]
  const FORMS: readonly ((name: string, value: unknown) => object)[] = [
    (name, value) => ({ $lt: [field(name), literal(value)] }),
    (name, value) => ({ $gte: [literal(value), field(name)] }),
    (name, value) => ({ $not: [{ $gt: [field(name), literal(value)] }] }),
    (name, value) => ({ $eq: [field(name), literal(value)] }),
    (name, value) => ({ $in: [field(name), [literal('2026-01-01'), literal(value)]] }),
    (name, value) => ({ $in: [literal(value), [field(name)]] }),
    (name, value) => ({
      $or: [{ $eq: [field('id'), literal('x')] }, { $and: [{ $lte: [field(name), literal(value)] }] }],
    }),
    (name, value) => ({ $lt: [field(name), { $convert: { input: literal(value), to: 'string' } }] }),
  ]

  for (const [path, name, more] of [
    ['/calls/query', 'started_at', {}],
    ['/calls/query', 'ended_at', {}],
    ['/calls/query', 'feedback.[*].created_at', {}],
    ['/calls/stream_query', 'ended_at', {}],
    ['/calls/query_stats', 'started_at', {}],
    ['/calls/stats', 'started_at', { ...RANGE, call_metrics: [{ metric: 'call_count' }] }],
    ['/trace/usage', 'started_at', {}],
    ['/usage/query', 'ended_at', {}],
    ['/feedback/query', 'created_at', {}],
    ['/cost/query', 'effective_date', {}],
    ['/cost/query', 'created_at', {}],
  ] as const)
    it(`is a 422 that names it and ${name} if it is no time, at ${path}`, async () => {
      for (const [of, value] of NO_TIMES.entries())
        for (const [at, form] of FORMS.entries()) {
          // Only text is converted to text as it is.
          if (at === FORMS.length - 1 && typeof value === 'boolean') continue
          // All pairs at one endpoint; elsewhere each value in a form of its own.
          if (name !== 'started_at' || path !== '/calls/query') if (at !== of % FORMS.length) continue
          const $expr = form(name, value)
          const answer = await service.post(path, { project_id: project, ...more, query: { $expr } })
          assert.deepEqual(told(answer), ['value_error query'], JSON.stringify($expr))
          const [{ msg }] = answer.json<{ detail: [{ msg: string }] }>().detail
          const shown = JSON.stringify(typeof value === 'object' ? JSON.stringify(value) : value)
          assert.ok(msg.includes(shown) && msg.includes(name), msg)
        }
    })

  it('is a 422 in the filter of an evaluation rule if it is no time', async () => {
    const query = { $expr: { $lt: [field('started_at'), literal('yesterday')] } }
    const rule = {
      name: 'rule',
      scorer_refs: [await service.in(project).objects.publish('exact', scorerObject('ExactMatchScorer'))],
      filter: { query },
    }
    const answer = await service.post(`/api/evaluation-rules/${project}`, rule)
    assert.equal(answer.status, 422, answer.text)
    assert.match(answer.text, /yesterday.*started_at/)
  })

  it('is a 422 if it is the empty text that comes before or after a time', async () => {
    const { calls } = service.in(project)
    const ids = (operation: string, value: unknown) =>
      calls.ids({ query: { $expr: { [operation]: [field('ended_at'), literal(value)] } } })
    for (const operation of ['$lt', '$gt', '$lte', '$gte']) {
      const query = { $expr: { [operation]: [field('started_at'), literal('')] } }
      assert.deepEqual(told(await calls.query({ query })), ['value_error query'])
    }
    assert.deepEqual(await ids('$eq', ''), [])
    assert.deepEqual(await ids('$eq', null), [])
  })

  it('may be of a year that no call has, before or after all', async () => {
    const { calls } = service.in(project)
    const ids = (operation: string, value: string) =>
      calls.ids({ query: { $expr: { [operation]: [field('started_at'), literal(value)] } } })
    for (const year of ['0001-01-01T00:00:00.000000Z', '1600-02-29', '1899-12-31T23:59:59Z']) {
      assert.equal((await ids('$gte', year)).length, 3, year)
      assert.deepEqual(await ids('$lt', year), [])
    }
    for (const year of ['2999-01-01T00:00:00.000000Z', '9999-12-31T23:59:59.999999+00:00', '2400-02-29']) {
      assert.deepEqual(await ids('$gte', year), [], year)
      assert.equal((await ids('$lt', year)).length, 3)
    }
    for (const none of ['2999-02-29', '0001-13-01', '99999-01-01', '-001-01-01']) {
      const query = { $expr: { $lt: [field('started_at'), literal(none)] } }
      assert.deepEqual(told(await calls.query({ query })), ['value_error query'], none)
    }
  })

  const SECOND = 1_767_225_611
  for (const [unit, value] of [
    ['a date', '2026-01-01T00:00:11.000001Z'],
    ['a date in another zone', '2026-01-01T01:00:11.000001+01:00'],
    ['seconds', SECOND + 0.000001],
    ['microseconds', SECOND * 1e6 + 1],
  ] as const)
    it(`may be ${unit}`, async () => {
      const { calls } = service.in(project)
      const ids = ($expr: object) => calls.ids({ query: { $expr } })
      assert.deepEqual(await ids({ $eq: [field('started_at'), literal(value)] }), ['c1'])
      assert.deepEqual(await ids({ $in: [field('started_at'), [literal(value), literal(0)]] }), ['c1'])
      assert.deepEqual(await ids({ $gt: [field('started_at'), literal(value)] }), ['c2'])
      assert.deepEqual(await ids({ $not: [{ $lt: [literal(value), field('started_at')] }] }), ['c0', 'c1'])
    })

  for (const [unit, value] of [
    ['milliseconds', SECOND * 1e3],
    ['nanoseconds', SECOND * 1e9],
  ] as const)
    it(`may be ${unit}, also from a conversion`, async () => {
      const { calls } = service.in(project)
      const after = { $gt: [field('started_at'), literal(value)] }
      const converted = { $convert: { input: literal(String(value)), to: 'double' } }
      assert.deepEqual(await calls.ids({ query: { $expr: after } }), ['c1', 'c2'])
      assert.equal((await calls.count({ query: { $expr: after } }).json()).count, 2)
      const $expr = { $gt: [field('started_at'), converted] }
      assert.deepEqual(await calls.ids({ query: { $expr } }), ['c1', 'c2'])
    })
})

describe('a call that ends before it starts', () => {
  let service: TestService
  let project: string

  before(async () => {
    service = await sharedService()
    project = someProject()
    const call = (id: string, started_at: string, ended_at: string) => ({
      id,
      trace_id: id,
      op_name: 'answer',
      started_at,
      ended_at,
    })
    const calls = [
      ...Array.from({ length: 9 }, (_, n) =>
        call(
          `second-${n}`,
          `2026-01-01T00:00:0${n}Z`,
          `2026-01-01T00:00:0${n + 1}Z`.replace(':010Z', ':10Z'),
        ),
      ),
      call('backwards', '2026-01-01T12:00:00Z', '2026-01-01T11:00:00Z'),
      call('backwards-by-little', '2026-01-01T12:00:00.000001Z', '2026-01-01T12:00:00Z'),
      call('instant', '2026-01-01T13:00:00Z', '2026-01-01T13:00:00Z'),
    ]
    accepted(await service.in(project).calls.complete(calls))
  })

  it('counts in no statistic of latency, and is counted apart', async () => {
    const aggregations = ['avg', 'sum', 'min', 'max', 'count']
    const call_metrics = [{ metric: 'latency_ms', aggregations, percentiles: [1, 50, 99] }]
    const asked = { ...RANGE, granularity: 'day', call_metrics }
    const { call_buckets, ended_before_start_count } = await service.in(project).calls.stats(asked).json()
    assert.equal(ended_before_start_count, 2)
    const [{ timestamp: _, ...figures }] = call_buckets
    const expected = { avg: 900, sum: 9000, min: 0, max: 1000, count: 10, p50: 1000, p99: 1000 }
    assert.equal(figures.count, 12)
    for (const [name, value] of Object.entries(expected))
      assert.equal(figures[`latency_ms_${name}`], value, name)
    assert.ok(figures.latency_ms_p1 >= 0)
  })

  it('is not counted apart where no latency is asked for', async () => {
    const asked = { ...RANGE, call_metrics: [{ metric: 'call_count' }] }
    assert.equal((await service.in(project).calls.stats(asked).json()).ended_before_start_count, null)
  })

  it('has no latency, in reads, filters and sorts', async () => {
    const { calls } = service.in(project)
    const latency = 'summary.weave.latency_ms'
    for (const id of ['backwards', 'backwards-by-little'])
      assert.equal((await calls.read(id)).summary.weave.latency_ms, null)
    assert.equal((await calls.read('instant')).summary.weave.latency_ms, 0)
    const below = { $expr: { $lt: [field(latency), literal(1)] } }
    assert.deepEqual(await calls.ids({ query: below }), ['instant'])
    const none = { $expr: { $eq: [field(latency), literal(null)] } }
    assert.deepEqual(await calls.ids({ query: none }), ['backwards', 'backwards-by-little'])
    for (const direction of ['asc', 'desc']) {
      const sorted = await calls.ids({ sort_by: [{ field: latency, direction }] })
      assert.deepEqual(sorted.slice(-2).toSorted(), ['backwards', 'backwards-by-little'])
    }
  })
})

describe('a text that is searched for', () => {
  let service: TestService
  let project: string

  before(async () => {
    service = await sharedService()
    project = someProject()
    const call = (id: string, inputs: object) => ({ id, trace_id: id, op_name: 'answer', inputs })
    accepted(
      await service
        .in(project)
        .calls.complete([call('a', { x: 'text' }), call('b', { x: '' }), call('c', {})]),
    )
  })

  for (const [name, $expr, expected] of [
    [
      'empty, in a field that calls may lack',
      { $contains: { input: field('inputs.x'), substr: literal('') } },
      'a b c',
    ],
    ['empty, in a nested one', { $contains: { input: field('inputs.x.y'), substr: literal('') } }, 'a b c'],
    ['empty, in a column', { $contains: { input: field('exception'), substr: literal('') } }, 'a b c'],
    ['empty, negated', { $not: [{ $contains: { input: field('inputs.x'), substr: literal('') } }] }, ''],
    ['not empty', { $contains: { input: field('inputs.x'), substr: literal('ex') } }, 'a'],
  ] as const)
    it(`is found when it is ${name}`, async () => {
      const ids = await service.in(project).calls.ids({ query: { $expr } })
      assert.equal(ids.toSorted().join(' '), expected)
    })

  for (const name of [
    'total_storage_size_bytes',
    'storage_size_bytes',
    'wb_run_step',
    'summary.weave.latency_ms',
    'usage.total_tokens',
  ])
    it(`is a 422 when ${name} is a number`, async () => {
      for (const operation of ['$contains', '$containsToken'])
        for (const ask of ['query', 'count'] as const) {
          const $expr = { [operation]: { input: field(name), substr: literal('1') } }
          const answer = await service.in(project).calls[ask]({ query: { $expr }, limit: 10 })
          assert.deepEqual(told(answer), ['value_error query'])
          assert.ok(answer.text.includes(name))
        }
    })
})
