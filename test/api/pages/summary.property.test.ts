import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted } from '../calls/given.js'

interface Summary {
  readonly calls: number
  readonly from_us: number
  readonly step_us: number
  readonly by_status: Readonly<Record<string, readonly number[]>>
  readonly facets: readonly {
    readonly field: string
    readonly of: number
    readonly values: readonly { readonly value: string; readonly calls: number }[] | null
  }[]
}

const FIELDS = ['summary.weave.status', 'op_name', 'model', 'end_user', 'environment', 'thread_id']
const START = Date.parse('2026-03-01T00:00:00Z')

const someCall = fc.record({
  second: fc.nat(7200),
  op_name: fc.constantFrom('search', 'answer', 'write'),
  outcome: fc.constantFrom('success', 'error', 'running'),
  models: fc.uniqueArray(fc.constantFrom('small', 'large', 'own'), { maxLength: 2 }),
  attributes: fc.constantFrom(
    {},
    { user: 'ann' },
    { user: { id: 'bob' } },
    { user_id: 'bob', environment: 'staging' },
    { 'enduser.id': 'cid', env: 'test' },
  ),
  thread_id: fc.constantFrom(null, 't1', 't2'),
  isRoot: fc.boolean(),
})

describe('the summary of a list of calls', () => {
  let service: TestService
  before(async () => {
    service = await sharedService()
  })

  const query = (...$and: object[]) => ({ query: { $expr: { $and } } })
  const equals = (field: string, value: string) =>
    field === 'model' ? { $usedModel: value } : { $eq: [{ $getField: field }, { $literal: value }] }

  it('counts what the list shows, by status as /calls/stats, and each value as the filter on it', () =>
    fc.assert(
      fc.asyncProperty(fc.array(someCall, { minLength: 1, maxLength: 30 }), async (given) => {
        const project = someProject()
        const at = (second: number) => new Date(START + second * 1000).toISOString()
        const calls = given.map(({ second, outcome, models, isRoot, ...call }, n) => ({
          ...call,
          ...{ id: `call-${n}`, trace_id: 'trace', started_at: at(second) },
          parent_id: isRoot || n === 0 ? null : `call-${n - 1}`,
          outcome,
          end: {
            ended_at: at(second + 1),
            exception: outcome === 'error' ? 'Error' : null,
            summary: { usage: Object.fromEntries(models.map((model) => [model, { prompt_tokens: 3 }])) },
          },
        }))
        await Promise.all(
          calls.map(async ({ outcome, end, ...start }) => {
            await service.in(project).calls.start(start).json()
            if (outcome !== 'running') await service.in(project).calls.end(start.id, end).json()
          }),
        )
        const ask = async (body: object) =>
          accepted(await service.post('/api/pages/calls/summary', { project_id: project, ...body }))
        const count = async (body: object) =>
          (accepted(await service.in(project).calls.count(body)) as { count: number }).count
        for (const filter of [null, { trace_roots_only: true }]) {
          const summary = (await ask({ filter, fields: FIELDS, limit: 100 })) as unknown as Summary
          assert.equal(summary.calls, await count({ filter }))
          const all = Object.values(summary.by_status)
          assert.equal(
            all.flat().reduce((sum, one) => sum + one, 0),
            summary.calls,
          )
          for (const bucket of [0, 1, (all[0]?.length ?? 1) - 1]) {
            const [from, to] = [bucket, bucket + 1].map((n) =>
              new Date((summary.from_us + n * summary.step_us) / 1000).toISOString(),
            )
            const stats = accepted(
              await service.post('/calls/stats', {
                ...{ project_id: project, filter, start: from, end: to, granularity: 'day' },
                call_metrics: [{ metric: 'call_count' }, { metric: 'error_count' }],
              }),
            )['call_buckets'] as unknown as { sum_call_count: number; sum_error_count: number }[]
            const sum = (name: 'sum_call_count' | 'sum_error_count') =>
              stats.reduce((total, one) => total + one[name], 0)
            assert.equal(
              all.reduce((total, counts) => total + (counts[bucket] ?? 0), 0),
              sum('sum_call_count'),
            )
            assert.equal(summary.by_status['error']?.[bucket] ?? 0, sum('sum_error_count'))
          }
          for (const { field, values, of } of summary.facets) {
            assert.equal(of, summary.calls)
            for (const { value, calls: counted } of values!)
              assert.equal(
                await count({ filter, ...query(equals(field, value)) }),
                counted,
                `${field} ${value}`,
              )
          }
        }
      }),
      { numRuns: 3 },
    ))

  it('counts within the range, the filter and a used model, and refuses unknown fields', async () => {
    const project = someProject()
    const call = (id: string, attributes: object) => ({
      ...{ id, trace_id: id, op_name: 'answer', attributes, started_at: '2026-03-01T10:30:00Z' },
      ...{ ended_at: '2026-03-01T10:30:01Z', summary: { usage: { small: { prompt_tokens: 1 } } } },
    })
    await service
      .in(project)
      .calls.complete([call('a', { user: 'ann' }), call('b', { user: 'bob' })])
      .json()
    const range = { start: '2026-03-01T00:00:00Z', end: '2026-03-02T00:00:00Z' }
    const summary = accepted(
      await service.post('/api/pages/calls/summary', {
        ...{ project_id: project, ...range, buckets: 24, fields: ['end_user'] },
        ...query(equals('model', 'small'), equals('end_user', 'ann')),
      }),
    ) as unknown as Summary
    assert.equal(summary.calls, 1)
    assert.equal(summary.step_us, 3_600_000_000)
    assert.equal(summary.from_us, Date.parse(range.start) * 1000)
    assert.deepEqual(summary.by_status, {
      success: Array.from({ length: 24 }, (_, hour) => (hour === 10 ? 1 : 0)),
    })
    assert.deepEqual(summary.facets, [{ field: 'end_user', of: 1, values: [{ value: 'ann', calls: 1 }] }])
    const refused = await service.post('/api/pages/calls/summary', { project_id: project, fields: ['sta'] })
    assert.equal(refused.status, 422)
  })
})
