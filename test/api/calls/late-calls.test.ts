import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'

describe('a call that comes below a deleted one', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const usage = { usage: { m: { prompt_tokens: 7, requests: 1 } } }

  /** Where a project could show calls: lists, counts, sums, statistics and single reads. */
  const shownIn = async (project: string, ...ids: readonly string[]) => {
    const { calls, usage } = service.in(project)
    const { usage_buckets: buckets } = await calls
      .stats({
        start: '2025-12-31T00:00:00Z',
        end: '2026-01-02T00:00:00Z',
        usage_metrics: [{ metric: 'total_tokens', aggregations: ['sum'] }],
      })
      .json()
    const total = (buckets as readonly Record<string, number>[]).reduce(
      (sum, bucket) => sum + (bucket['sum_total_tokens'] ?? 0),
      0,
    )
    const read = await Promise.all(ids.map((id) => calls.read(id)))
    return {
      ids: (await calls.ids()).toSorted(),
      count: (await calls.count().json()).count as number,
      used: Object.keys((await usage.ofTraces().json()).call_usage as object).sort(),
      named: Object.entries((await calls.usage({ call_ids: ids }).json()).call_usage as object)
        .flatMap(([id, models]) => (Object.keys(models as object).length > 0 ? [id] : []))
        .sort(),
      read: ids.filter((_, n) => read[n] !== null).sort(),
      total,
    }
  }
  const NONE = { ids: [], count: 0, used: [], named: [], read: [], total: 0 }

  const start = (id: string, parent_id: string | null, trace_id = 't') => ({
    start: { id, parent_id, trace_id },
  })
  const end = (id: string) => ({ end: { id, summary: usage } })

  it('is deleted from its start on, also in sums, and deleting the root again counts it', async () => {
    const project = someProject()
    const { calls } = service.in(project)
    await calls.batch([start('root', null), start('a', 'root'), end('a')]).json()
    assert.deepEqual(await calls.delete('root').json(), { num_deleted: 2 })

    await calls.start({ id: 'late', parent_id: 'root', trace_id: 't' }).json()
    assert.deepEqual(await shownIn(project, 'root', 'a', 'late'), NONE)
    await calls.end('late', { summary: usage }).json()
    assert.deepEqual(await shownIn(project, 'root', 'a', 'late'), NONE)

    assert.deepEqual(await calls.delete('root').json(), { num_deleted: 1 })
    assert.deepEqual(await calls.delete('root').json(), { num_deleted: 0 })
    assert.deepEqual(await shownIn(project, 'root', 'a', 'late'), NONE)
  })

  const ORDERS: Readonly<Record<string, readonly (readonly ReturnType<typeof start>[])[]>> = {
    'one after the other': [[start('b', 'a')], [start('c', 'b')], [start('d', 'c')]],
    'in one batch': [[start('b', 'a'), start('c', 'b'), start('d', 'c')]],
    'children first, one after the other': [[start('d', 'c')], [start('c', 'b')], [start('b', 'a')]],
    'children first, in one batch': [[start('d', 'c'), start('c', 'b'), start('b', 'a')]],
    'the middle last': [[start('d', 'c'), start('b', 'a')], [start('c', 'b')]],
  }
  for (const [name, batches] of Object.entries(ORDERS))
    it(`is deleted with its descendants when they come ${name}`, async () => {
      const project = someProject()
      const { calls } = service.in(project)
      await calls.batch([start('root', null), start('a', 'root'), start('x', 'root')]).json()
      await calls.delete('a').json()
      for (const batch of batches) {
        await calls.batch(batch).json()
        await calls.ids()
      }
      await calls.batch([end('b'), end('c'), end('d')]).json()
      const left = ['root', 'x']
      assert.deepEqual(await shownIn(project, 'a', 'b', 'c', 'd', ...left), {
        ...NONE,
        ids: left,
        count: 2,
        read: left,
        used: left,
      })
      assert.deepEqual(await calls.delete('a').json(), { num_deleted: 3 })
    })

  it('is kept in another trace, in another project, and beside a deleted one', async () => {
    const [project, other] = [someProject(), someProject()]
    const { calls } = service.in(project)
    await calls.batch([start('root', null), start('a', 'root')]).json()
    await service
      .in(other)
      .calls.batch([start('root', null)])
      .json()
    await calls.delete('a').json()
    await calls.batch([start('b', 'root'), start('c', 'a', 'u'), start('d', 'never')]).json()
    await service
      .in(other)
      .calls.batch([start('a', 'root'), start('b', 'a')])
      .json()
    assert.deepEqual((await calls.ids()).toSorted(), ['b', 'c', 'd', 'root'])
    for (const id of ['b', 'c', 'd']) assert.equal((await calls.read(id)).id, id)
    assert.deepEqual((await service.in(other).calls.ids()).toSorted(), ['a', 'b', 'root'])
  })

  it('is deleted on a cycle too', async () => {
    const project = someProject()
    const { calls } = service.in(project)
    await calls.batch([start('a', 'b'), start('b', 'c')]).json()
    await calls.delete('a').json()
    await calls.batch([start('c', 'a')]).json()
    assert.deepEqual(await shownIn(project, 'a', 'b', 'c'), NONE)
  })

  it('is shown as of a position before the deletion of what is above it only', async () => {
    const project = someProject()
    const { calls } = service.in(project)
    await calls.batch([start('root', null), start('x', null)]).json()
    const waiting = await calls.batch([start('c', 'b')])
    const deleted = await calls.delete('root')
    const linked = await calls.batch([start('b', 'root')])
    await calls.delete('root', 'c').json()
    const idsAsOf = async (answer: { readonly headers: Headers }) =>
      (
        await service
          .with({ headers: { 'Tallytree-As-Of': answer.headers.get('tallytree-position')! } })
          .in(project)
          .calls.ids()
      ).toSorted()
    assert.deepEqual(await idsAsOf(waiting), ['c', 'root', 'x'])
    assert.deepEqual(await idsAsOf(deleted), ['c', 'x'])
    assert.deepEqual(await idsAsOf(linked), ['x'])
  })
})
