import assert from 'node:assert/strict'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import type { ClickHouseReader } from '../../../../src/kernel/ports/clickhouse.js'
import { openTestClickHouse } from '../../../support/engine.js'
import { startTestService, type TestService } from '../../../support/service.js'
import { sharedService, someProject } from '../../shared-service.js'
import { aCompleted } from '../../../support/call-requests.js'
import { accepted, reasonOf, told } from '../../calls/given.js'

interface Stats {
  readonly granularity: number
  readonly usage_buckets: readonly JsonObject[]
  readonly call_buckets: readonly JsonObject[]
}

const DAY = { start: '2026-01-01T00:00:00Z', end: '2026-01-02T00:00:00Z' }
const hour = (nth: number) => `2026-01-01T${String(nth).padStart(2, '0')}:00:00.000000Z`

describe('statistics of calls', () => {
  let service: TestService
  let project_id: string
  before(async () => {
    service = await sharedService()
    project_id = someProject()
    const used = (prompt_tokens: number) => ({
      usage: { small: { requests: 1, prompt_tokens, completion_tokens: 2 } },
    })
    const call = (id: string, more: object) => aCompleted(project_id, { id, trace_id: 'trace', ...more })
    const batch = [
      call('a', {
        started_at: '2026-01-01T01:00:00Z',
        ended_at: '2026-01-01T01:00:00.1239Z',
        summary: used(10),
      }),
      call('b', {
        started_at: '2026-01-01T01:59:59.999999Z',
        ended_at: '2026-01-01T02:00:00.999999Z',
        summary: used(20),
      }),
      call('c', {
        started_at: '2026-01-01T03:00:00Z',
        ended_at: '2026-01-01T03:00:03Z',
        exception: 'no',
        parent_id: 'a',
      }),
      call('d', { started_at: '2026-01-02T00:00:00Z', ended_at: '2026-01-02T00:00:03Z', summary: used(40) }),
    ]
    accepted(await service.post(`/v2/${project_id}/calls/complete`, { batch }))
    await service.in(project_id).calls.start({ id: 'e', started_at: '2026-01-01T03:30:00Z' }).json()
  })

  const ask = async (more: object, headers = {}): Promise<Stats> =>
    await service
      .in(project_id)
      .with({ headers })
      .calls.stats({ ...DAY, granularity: 'hour', ...more })
      .json()

  it('are grouped by fields over the whole range, calls without usage too', async () => {
    const groupsOf = async (group_by: readonly string[], more = {}) =>
      (await ask({ group_by, ...more })) as Stats & {
        readonly call_groups: readonly JsonObject[]
        readonly other_call_count: number
      }
    const call_metrics = [{ metric: 'latency_ms', percentiles: [100] }]
    const status = await groupsOf(['summary.weave.status'], { call_metrics })
    assert.deepEqual(
      status.call_groups.map(({ key, count, error_count, latency_ms_p100 }) => [
        key,
        count,
        error_count,
        latency_ms_p100,
      ]),
      [
        [['success'], 2, 0, 1000],
        [['error'], 1, 1, 3000],
        [['running'], 1, 0, null],
      ],
    )
    assert.equal(status.other_call_count, 0)
    const two = await groupsOf(['op_name', 'parent_id'], { limit: 1 })
    assert.deepEqual([two.call_groups.length, two.other_call_count], [1, 1])
    assert.equal(two.call_groups[0]!['count'], 3)
    assert.deepEqual((two.call_groups[0]!['key'] as unknown[])[1], null)
    const none = await groupsOf(['attributes.nothing'])
    assert.deepEqual(
      none.call_groups.map(({ key, count }) => [key, count]),
      [[[null], 4]],
    )
    assert.equal('call_groups' in (await ask({})), false)
    const refused = await service.in(project_id).calls.stats({ ...DAY, group_by: ['a', 'b', 'c', 'd'] })
    assert.equal(refused.status, 422)
    const unknown = await service.in(project_id).calls.stats({ ...DAY, group_by: ['no such field'] })
    assert.equal(unknown.status, 403)
  })

  it('take a year by day', async () => {
    const year = { start: '2025-06-01T00:00:00Z', end: '2026-06-01T00:00:00Z' }
    const { call_buckets } = await ask({
      ...year,
      granularity: 'day',
      call_metrics: [{ metric: 'call_count' }],
    })
    assert.equal(call_buckets.length, 365)
    const hourly = await service.in(project_id).calls.stats({ ...year, granularity: 'hour' })
    assert.equal(hourly.status, 422)
  })

  it('tell how many there were, how many failed and how long they took, empty buckets too', async () => {
    const call_metrics = [
      { metric: 'call_count' },
      { metric: 'error_count', aggregations: ['sum', 'avg'] },
      { metric: 'latency_ms', aggregations: ['sum', 'avg', 'min', 'max', 'count'], percentiles: [50, 99.9] },
    ]
    const { call_buckets, usage_buckets, granularity } = await ask({ call_metrics })
    assert.deepEqual([usage_buckets, granularity, call_buckets.length], [[], 3600, 24])
    const at = (nth: number) => onceNamed(call_buckets[nth]!)
    assert.deepEqual(at(1), {
      timestamp: hour(1),
      call_count_sum: 2,
      error_count_sum: 0,
      error_count_avg: 0,
      latency_ms_sum: 1123,
      latency_ms_avg: 561.5,
      latency_ms_min: 123,
      latency_ms_max: 1000,
      latency_ms_count: 2,
      latency_ms_p50: 561.5,
      'latency_ms_p99.9': 123 + 877 * 0.999,
      count: 2,
    })
    assert.deepEqual(
      [
        at(3)['call_count_sum'],
        at(3)['error_count_sum'],
        at(3)['error_count_avg'],
        at(3)['latency_ms_count'],
      ],
      [2, 1, 0.5, 1],
    )
    assert.deepEqual(at(2), {
      ...Object.fromEntries(Object.keys(at(1)).map((name) => [name, /_(min|max|p)/.test(name) ? null : 0])),
      timestamp: hour(2),
    })
  })

  /** Each figure by the first of its names, and both the same. */
  const onceNamed = (bucket: JsonObject): JsonObject => {
    const first = Object.entries(bucket).filter(([name]) => !/^(sum|avg|min|max|count|p[\d.]+)_/.test(name))
    for (const [name, value] of first) {
      const [, metric, figure] = /^(.*)_(sum|avg|min|max|count|p[\d.]+)$/.exec(name) ?? []
      if (metric !== undefined) assert.equal(bucket[`${figure}_${metric}`], value, name)
    }
    return Object.fromEntries(first)
  }

  it('tell what models were used, each in every bucket', async () => {
    const usage_metrics = [
      { metric: 'input_tokens', aggregations: ['sum', 'max'], percentiles: [50] },
      { metric: 'total_tokens' },
      { metric: 'requests', aggregations: ['count'] },
    ]
    const { usage_buckets, call_buckets } = await ask({ usage_metrics })
    assert.deepEqual([call_buckets, usage_buckets.length], [[], 24])
    assert.deepEqual(onceNamed(usage_buckets[1]!), {
      timestamp: hour(1),
      model: 'small',
      input_tokens_sum: 30,
      input_tokens_max: 20,
      input_tokens_p50: 15,
      total_tokens_sum: 34,
      requests_count: 2,
      count: 2,
    })
    assert.deepEqual(onceNamed(usage_buckets[3]!), {
      timestamp: hour(3),
      model: 'small',
      input_tokens_sum: 0,
      input_tokens_max: null,
      input_tokens_p50: null,
      total_tokens_sum: 0,
      requests_count: 0,
      count: 0,
    })
  })

  it('follow a filter and the clocks of a time zone', async () => {
    const call_metrics = [{ metric: 'call_count' }]
    const roots = await ask({ call_metrics, filter: { call_ids: ['a', 'c', 'd'], trace_roots_only: true } })
    assert.deepEqual(
      roots.call_buckets.filter(({ count }) => count !== 0).map(({ timestamp }) => timestamp),
      [hour(1)],
    )
    const days = await ask({ call_metrics, granularity: 86_400, timezone: 'America/New_York' })
    assert.deepEqual(
      days.call_buckets.map(({ timestamp, call_count_sum }) => [timestamp, call_count_sum]),
      [
        ['2025-12-31T05:00:00.000000Z', 4],
        ['2026-01-01T05:00:00.000000Z', 0],
      ],
    )
  })

  it('may be as of a position, and before the project are nothing', async () => {
    const asked = { call_metrics: [{ metric: 'call_count' }], usage_metrics: [{ metric: 'requests' }] }
    const { call_buckets, usage_buckets } = await ask(asked, { 'Tallytree-As-Of': '0' })
    assert.equal(usage_buckets.length, 0)
    assert.ok(call_buckets.length === 24 && call_buckets.every(({ count }) => count === 0))
  })

  it('are in buckets of a useful length where none is asked, and end now where no end is', async () => {
    for (const [end, granularity] of [
      ['2026-01-01T01:00:00Z', 300],
      ['2026-01-01T06:00:00Z', 3600],
      ['2026-01-03T00:00:00Z', 6 * 3600],
      ['2026-01-10T00:00:00Z', 12 * 3600],
      ['2026-02-01T00:00:00Z', 86_400],
    ])
      assert.equal((await ask({ end, granularity: null })).granularity, granularity)
    const start = new Date(Date.now() - 3_600_000).toISOString()
    assert.equal((await ask({ start, end: null, granularity: null })).granularity, 300)
  })

  it('are asked within limits, each of which is named', async () => {
    const refused = async (more: object) =>
      told(await service.in(project_id).calls.stats({ ...DAY, ...more }))
    assert.deepEqual(await refused({ start: DAY.end }), ['value_error end'])
    assert.deepEqual(await refused({ end: '2026-02-01T00:00:00.000001Z' }), ['value_error end'])
    assert.deepEqual(await refused({ granularity: 8 }), ['value_error granularity'])
    for (const granularity of [0, -1, 1.5, 31 * 86_400 + 1, 'week', '60', {}])
      assert.deepEqual(await refused({ granularity }), ['value_error granularity'])
    for (const timezone of ['', 'Mars', 'x'.repeat(100_000), "UTC'"])
      assert.deepEqual(await refused({ timezone }), ['value_error timezone'])
    assert.deepEqual(await refused({ usage_metrics: [{ metric: 'cost' }] }), [
      'literal_error usage_metrics.0.metric',
    ])
    const latency = { metric: 'latency_ms' }
    for (const percentiles of [[101], [-0.1]])
      assert.deepEqual(await refused({ call_metrics: [latency, { ...latency, percentiles }] }), [
        'value_error call_metrics.1.percentiles.0',
      ])
    assert.deepEqual(await refused({ call_metrics: [{ ...latency, aggregations: ['median'] }] }), [
      'literal_error call_metrics.0.aggregations.0',
    ])
    assert.deepEqual(await refused({ as_of: 1 }), ['extra_forbidden as_of'])
    const percentiles = Array.from({ length: 32 }, (_, i) => i)
    const much = {
      granularity: 10,
      call_metrics: [
        { ...latency, percentiles },
        { metric: 'call_count', percentiles },
        { metric: 'error_count', percentiles },
      ],
      end: '2026-01-02T03:00:00Z',
    }
    assert.equal(
      (
        await service
          .in(project_id)
          .calls.stats({ ...DAY, ...much })
          .json()
      )['granularity'],
      10,
    )
    const calls = Array.from({ length: 120 }, (_, i) => ({ [`model-${i}`]: { requests: 1 } }))
    const models = aCompleted(project_id, {
      started_at: '2026-01-01T05:00:00Z',
      summary: { usage: Object.assign({}, ...calls) as object },
    })
    const other = someProject()
    accepted(await service.post(`/v2/${other}/calls/complete`, { batch: [{ ...models, project_id: other }] }))
    const many = { project_id: other, ...DAY, granularity: 10, usage_metrics: [{ metric: 'requests' }] }
    assert.match(reasonOf(await service.post('/calls/stats', many), 413), /1000000 values/)
  })

  it('need no totals of usage where none is asked', async () => {
    const withoutTotals = await startTestService({}, async () => {
      const clickHouse = await openTestClickHouse()
      const query: ClickHouseReader['query'] = (sql, parameters, options) =>
        options?.team !== undefined && sql.includes('usage_totals')
          ? Promise.reject(new Error('a request read totals'))
          : clickHouse.reader.query(sql, parameters, options)
      return { ...clickHouse, reader: { ...clickHouse.reader, query } }
    })
    try {
      const { post } = withoutTotals
      accepted(await post(`/v2/${project_id}/calls/complete`, { batch: [aCompleted(project_id, {})] }))
      const asked = { project_id, ...DAY, call_metrics: [{ metric: 'call_count' }] }
      assert.equal((await post('/calls/stats', asked)).status, 200)
      assert.equal(
        (await post('/calls/stats', { ...asked, usage_metrics: [{ metric: 'requests' }] })).status,
        500,
      )
    } finally {
      await withoutTotals.stop()
    }
  })
})
