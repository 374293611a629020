import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { COUNTS } from '../../counts.js'
import { accepted } from '../calls/given.js'
import { setCosts, someCosts, tokens } from '../prices/given.js'
import { sharedService, someProject } from '../shared-service.js'
import type { TestService } from '../../support/service.js'

interface Used {
  readonly tokens: number
  readonly cost: number | null
}
interface Figures extends Used {
  readonly traces: number
  readonly errors: number
  readonly p50_ms: number | null
  readonly p95_ms: number | null
  readonly users: number
}
interface Overview {
  readonly has_calls: boolean
  readonly user_field: string
  readonly figures: Figures
  readonly previous: Figures
  readonly starts: readonly number[]
  readonly statuses: readonly { readonly status: string; readonly traces: readonly number[] }[]
  readonly p95_ms: readonly (number | null)[]
  readonly costs: readonly { readonly model: string | null; readonly cost: readonly (number | null)[] }[]
  readonly ops: readonly (Used & { readonly op: string; readonly calls: number; readonly errors: number })[]
  readonly models: readonly (Used & { readonly model: string; readonly calls: number })[]
  readonly users: readonly (Used & { readonly user: string; readonly traces: number })[]
}
interface ErrorGroup {
  readonly error: string
  readonly op: string
  readonly count: number
  readonly call_id: string
}
interface Usage {
  readonly group: Readonly<Record<string, string>>
  readonly usage: {
    readonly calls: number
    readonly total_tokens: number
    readonly total_cost: number | null
  }
}

const START = '2026-03-28T12:00:00.000000Z'
const END = '2026-03-30T12:00:00.000000Z'
const HOURS = 48

const MODELS = ['priced', 'also priced', 'without a price']
const OPS = ['agent', 'weave:///team/project/op/chat:v1', 'weave:///team/project/op/chat:v2', 'chat']
const ERRORS = [
  null,
  'TimeoutError: after 12 s\n  at line 3',
  'TimeoutError: after 250 s',
  'Traceback (most recent call last):\n  File "a.py", line 7\nValueError: call 8f is unknown\n',
  '{"type":"KeyError","message":"id 77","traceback":"…"}',
  '',
]

const aCall = fc.record({
  /** Half of them in the range before. */
  hour: fc.double({ min: -HOURS, max: HOURS, noNaN: true, maxExcluded: true }),
  parent: fc.option(fc.nat(10)),
  op_name: fc.constantFrom(...OPS),
  model: fc.option(fc.constantFrom(...MODELS)),
  count: fc.nat(1000),
  exception: fc.constantFrom(...ERRORS),
  user: fc.option(fc.constantFrom('mira', 'jonas', 'Ёлка')),
  isRunning: fc.boolean(),
  milliseconds: fc.nat(100_000),
})

const literal = ($literal: unknown) => ({ $literal })
const equals = (field: string, value: unknown) => ({ $eq: [{ $getField: field }, literal(value)] })

describe('POST /api/pages/overview', () => {
  let service: TestService
  before(async () => {
    service = await sharedService()
  })

  const record = async (
    project_id: string,
    calls: readonly (typeof aCall extends fc.Arbitrary<infer C> ? C : never)[],
  ) => {
    const ids = calls.map(() => randomUUID())
    const traces: string[] = []
    const batch = calls.flatMap(({ parent, hour, milliseconds, ...call }, n) => {
      const above = parent !== null && parent < n ? parent : undefined
      traces.push(above === undefined ? randomUUID() : traces[above]!)
      const at = Date.parse(START) + Math.floor(hour * 3_600_000)
      const start = {
        project_id,
        id: ids[n],
        trace_id: traces[n],
        parent_id: above === undefined ? null : ids[above],
        op_name: call.op_name,
        started_at: new Date(at).toISOString(),
        attributes:
          call.user === null ? {} : n % 2 === 0 ? { user: { id: call.user } } : { user_id: call.user },
        inputs: {},
      }
      const usage = call.model === null ? {} : { [call.model]: tokens(call.count, 1) }
      const end = {
        project_id,
        id: ids[n],
        ended_at: new Date(at + milliseconds).toISOString(),
        output: null,
        exception: call.exception,
        summary: { usage },
      }
      return [{ mode: 'start', req: { start } }, ...(call.isRunning ? [] : [{ mode: 'end', req: { end } }])]
    })
    accepted(await service.post('/call/upsert_batch', { batch }))
  }

  const askedOf = async (project: string) =>
    accepted(
      await service.post('/api/pages/overview', {
        project_id: project,
        start: START,
        end: END,
        timezone: 'Europe/Berlin',
      }),
    ) as unknown as Overview

  it('has the figures of /calls/stats and /usage/query, over random calls', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(aCall, { maxLength: 40 }), async (calls) => {
        const project = someProject()
        await setCosts(service, project, {
          priced: someCosts({ prompt_token_cost: 0.000_000_3, effective_date: '2020-01-01T00:00:00Z' }),
          'also priced': someCosts({ prompt_token_cost: 0.1, effective_date: '2020-01-01T00:00:00Z' }),
        })
        await record(project, calls)
        const stats = async (start: string, end: string, more: object) =>
          accepted(
            await service.post('/calls/stats', {
              project_id: project,
              start,
              end,
              filter: { trace_roots_only: true },
              call_metrics: [
                { metric: 'call_count' },
                { metric: 'error_count' },
                { metric: 'latency_ms', percentiles: [50, 95] },
              ],
              ...more,
            }),
          ) as unknown as { readonly call_buckets: readonly Readonly<Record<string, number | null>>[] }
        const usage = async (more: object) =>
          accepted(
            await service.post('/usage/query', {
              ...{ project_id: project, start: START, end: END, include_costs: true, limit: 1000 },
              ...more,
            }),
          ) as unknown as { readonly rows: readonly Usage[]; readonly totals: Pick<Usage, 'usage'> }
        const shown = await askedOf(project)

        const before = new Date(2 * Date.parse(START) - Date.parse(END)).toISOString()
        for (const [figures, start, end] of [
          [shown.figures, START, END],
          [shown.previous, before, START],
        ] as const) {
          const { call_buckets } = await stats(start, end, { granularity: 31 * 86_400 })
          const sum = (name: string) => call_buckets.reduce((all, bucket) => all + Number(bucket[name]), 0)
          assert.equal(figures.traces, sum('call_count_sum'))
          assert.equal(figures.errors, sum('error_count_sum'))
          const { totals } = await usage({ start, end })
          assert.deepEqual([figures.tokens, figures.cost], told(totals))
        }

        const { call_buckets } = await stats(START, END, { granularity: 'hour', timezone: 'Europe/Berlin' })
        assert.deepEqual(
          shown.starts.map((start) => new Date(start * 1000).toISOString().slice(0, 19)),
          call_buckets.map(({ timestamp }) => String(timestamp).slice(0, 19)),
        )
        const counted = shown.starts.map((_, at) =>
          shown.statuses.reduce((sum, { traces }) => sum + traces[at]!, 0),
        )
        assert.deepEqual(
          counted,
          call_buckets.map((bucket) => bucket['call_count_sum']),
        )
        assert.deepEqual(
          shown.p95_ms,
          call_buckets.map((bucket) => bucket['latency_ms_p95']),
        )

        const byHour = await usage({ group_by: ['model', 'hour'], timezone: 'Europe/Berlin' })
        const found = new Map(
          byHour.rows.map((row) => [`${row.group['model']} ${Date.parse(row.group['hour']!) / 1000}`, row]),
        )
        for (const { model, cost } of shown.costs)
          for (const [at, start] of shown.starts.entries())
            assert.equal(cost[at], found.get(`${model} ${start}`)?.usage.total_cost ?? 0)
        const [byModel, byOp, byUser] = await Promise.all([
          usage({ group_by: ['model'] }),
          usage({ group_by: ['op'] }),
          usage({
            group_by: [shown.user_field === 'wb_user_id' ? 'user' : shown.user_field],
            usage: 'inclusive',
            filter: { trace_roots_only: true },
          }),
        ])
        assert.deepEqual(
          new Map(shown.models.map(({ model, calls, tokens, cost }) => [model, [calls, tokens, cost]])),
          new Map(byModel.rows.map((row) => [row.group['model'], [row.usage.calls, ...told(row)]])),
        )
        const usedBy = (rows: readonly Usage[], name: string) => {
          const row = rows.find(({ group }) => Object.values(group)[0] === name)
          return row === undefined ? [0, 0] : told(row)
        }
        for (const { op, tokens, cost } of shown.ops) assert.deepEqual([tokens, cost], usedBy(byOp.rows, op))
        for (const { user, tokens, cost } of shown.users)
          assert.deepEqual([tokens, cost], usedBy(byUser.rows, user))
      }),
      { numRuns: COUNTS.overviews },
    )
  })

  it('counts exactly the calls that its links select, over random calls', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(aCall, { minLength: 1, maxLength: 40 }), async (calls) => {
        const project = someProject()
        await record(project, calls)
        const selected = async (conditions: readonly object[], roots: boolean, start = START, end = END) => {
          const range = [
            { $gte: [{ $getField: 'started_at' }, literal(start)] },
            { $not: [{ $gte: [{ $getField: 'started_at' }, literal(end)] }] },
          ]
          const { count } = accepted(
            await service.post('/calls/query_stats', {
              project_id: project,
              filter: { trace_roots_only: roots },
              query: { $expr: { $and: [...conditions, ...range] } },
            }),
          )
          return count
        }
        const shown = await askedOf(project)
        assert.equal(shown.figures.traces, await selected([], true))
        assert.equal(shown.figures.errors, await selected([equals('summary.weave.status', 'error')], true))
        for (const { status, traces } of shown.statuses)
          assert.equal(
            traces.reduce((sum, count) => sum + count, 0),
            await selected([equals('summary.weave.status', status)], true),
          )
        for (const { op, calls: count } of shown.ops)
          assert.equal(count, await selected([equals('summary.weave.op', op)], false))
        for (const { model, calls: count } of shown.models)
          assert.equal(count, await selected([{ $usedModel: [model, 'own'] }], false))
        for (const { user, traces } of shown.users)
          assert.equal(traces, await selected([equals(shown.user_field, user)], true))

        const { data } = accepted(
          await service.post('/api/pages/errors', { project_id: project, start: START, end: END }),
        ) as unknown as { data: ErrorGroup[] }
        const failed = { $not: [equals('exception', null)] }
        for (const { error, op, count, call_id } of data) {
          const conditions = [equals('summary.weave.op', op), equals('summary.weave.error', error), failed]
          assert.equal(count, await selected(conditions, false))
          assert.equal(await selected([...conditions, equals('id', call_id)], false), 1)
        }
      }),
      { numRuns: COUNTS.overviews },
    )
  })

  it('groups errors that differ in numbers alone, by the line that names the error', async () => {
    const project = someProject()
    await record(
      project,
      ERRORS.filter(Boolean).map((exception, n) => ({
        ...{ hour: n, parent: null, op_name: 'agent', model: null, count: 0, user: null },
        ...{ exception, isRunning: false, milliseconds: 5 },
      })),
    )
    const { data } = accepted(
      await service.post('/api/pages/errors', { project_id: project, start: START, end: END }),
    ) as unknown as { data: ErrorGroup[] }
    assert.deepEqual(
      data.map(({ error, count }) => [error, count]),
      [
        ['KeyError: id #', 1],
        ['ValueError: call #f is unknown', 1],
        ['TimeoutError: after # s', 2],
      ],
    )
  })

  it('knows a project without calls', async () => {
    const project = someProject()
    assert.equal((await askedOf(project)).has_calls, false)
    await record(project, [
      {
        ...{ hour: -10_000, parent: null, op_name: 'agent', model: null, count: 0, exception: null },
        ...{ user: null, isRunning: false, milliseconds: 5 },
      },
    ])
    const { has_calls, figures } = await askedOf(project)
    assert.deepEqual([has_calls, figures.traces], [true, 0])
  })
})

const told = ({ usage }: Pick<Usage, 'usage'>): readonly [number, number | null] => [
  usage.total_tokens,
  usage.total_cost,
]
