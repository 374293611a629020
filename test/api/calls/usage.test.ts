import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { recordCalls, setCosts, someCosts, tokens } from '../prices/given.js'
import { sharedService, someProject } from '../shared-service.js'
import { told } from './given.js'

describe('a request for usage', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const ask = async (path: string, body: object) => {
    const { status, text } = await service.post(path, { project_id: 'default/limits', ...body })
    return status === 200 ? [status] : [status, text]
  }

  for (const path of ['/trace/usage', '/calls/usage'])
    it(`returns a 413 that names limit when ${path} is asked for more than one million calls`, async () => {
      const body = path === '/calls/usage' ? { call_ids: ['a'] } : {}
      assert.deepEqual(await ask(path, { ...body, limit: 1_000_000 }), [200])
      assert.deepEqual(await ask(path, { ...body, limit: 1_000_001 }), [
        413,
        '{"reason":"limit should be at most 1000000. Request fewer calls."}',
      ])
    })

  it('returns a 413 that names call_ids when /calls/usage is asked for too many', async () => {
    const ids = (count: number) => Array.from({ length: count }, (_, n) => `call-${n}`)
    assert.deepEqual(await ask('/calls/usage', { call_ids: ids(100_001), limit: 200_000 }), [
      413,
      '{"reason":"call_ids should have at most 100000 values. Split it into several requests."}',
    ])
  })

  it('finds calls by id that exist as of its position', async () => {
    const project = someProject()
    const { calls } = service.in(project)
    const usageOf = async (headers = {}) => {
      const call_ids = ['root', 'child', 'unknown']
      const { call_usage } = await service.in(project).with({ headers }).calls.usage({ call_ids }).json()
      return call_ids.map((id) => call_usage[id]?.['gpt']?.prompt_tokens ?? 0)
    }
    const positionNow = async () => (await calls.count()).headers.get('tallytree-position')!
    await recordCalls(service, project, [['root', null, { gpt: tokens(1) }]])
    const early = await positionNow()
    await recordCalls(service, project, [['child', 'root', { gpt: tokens(2) }]])
    assert.deepEqual(await usageOf(), [3, 2, 0])
    const late = await positionNow()
    await calls.delete('child').json()
    assert.deepEqual(await usageOf(), [1, 0, 0])
    assert.deepEqual(await usageOf({ 'Tallytree-As-Of': late }), [3, 2, 0])
    assert.deepEqual(await usageOf({ 'Tallytree-As-Of': early }), [1, 0, 0])
  })

  it('names the running calls that its figures lack, also below the requested ones', async () => {
    const { calls, usage } = service.in(someProject())
    const start = (id: string, parent_id: string | null) =>
      calls.start({ id, parent_id, trace_id: 't' }).json()
    await start('root', null)
    await start('b', 'root')
    await start('ended', 'root')
    await start('a', 'ended')
    await start('deleted', 'ended')
    await calls.end('ended').json()
    await calls.end('root').json()
    await calls.delete('deleted').json()
    const below = async (...call_ids: string[]) =>
      (await calls.usage({ call_ids }).json()).unfinished_call_ids as readonly string[]
    assert.deepEqual(await below('root'), ['a', 'b'])
    assert.deepEqual(await below('ended', 'a'), ['a'])
    assert.deepEqual(await below('b'), ['b'])
    assert.deepEqual(await below('unknown'), [])
    const { unfinished_call_ids } = await usage.ofTraces({ filter: { trace_roots_only: true } }).json()
    assert.deepEqual(unfinished_call_ids, ['a', 'b'])
    const query = { $expr: { $eq: [{ $getField: 'id' }, { $literal: 'root' }] } }
    assert.deepEqual((await usage.ofTraces({ query }).json()).unfinished_call_ids, ['a', 'b'])
    await calls.end('a').json()
    assert.deepEqual(await below('root'), ['b'])
  })

  it('is part of a request for calls with include_usage', async () => {
    const project = someProject()
    await setCosts(service, project, { gpt: someCosts({ effective_date: '2025-01-01T00:00:00Z' }) })
    await recordCalls(service, project, [
      ['root', null, { gpt: tokens(1) }],
      ['child', 'root', { gpt: tokens(2), unpriced: tokens(4) }],
      ['unused', null, {}],
    ])
    const api = service.in(project).calls
    const listed = async (more: object) => {
      const { calls } = await api.query({ limit: 10, include_usage: true, columns: ['id'], ...more }).json()
      return Object.fromEntries(calls.map(({ id, usage }) => [id, usage]))
    }
    const usageOf = async (include_costs: boolean) =>
      (await api.usage({ call_ids: ['root', 'child', 'unused'], include_costs }).json()).call_usage
    assert.deepEqual(await listed({}), await usageOf(false))
    const withCosts = await listed({ include_costs: true })
    assert.deepEqual(withCosts, await usageOf(true))
    assert.equal(withCosts['root']?.['gpt']?.prompt_tokens_total_cost, 1.5)
    const roots = {
      filter: { trace_roots_only: true },
      sort_by: [{ field: 'usage.total_tokens', direction: 'desc' }],
    }
    assert.deepEqual(Object.keys(await listed(roots)), ['root', 'unused'])
    const { calls } = await api.query({ limit: 10 }).json()
    assert.ok(calls.length === 3 && calls.every((call) => !('usage' in call)))
    for (const limit of [null, 10_001])
      assert.deepEqual(told(await api.query({ limit, include_usage: true })), ['value_error limit'])
  })
})
