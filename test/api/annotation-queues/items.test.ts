import assert from 'node:assert/strict'
import type { Client } from '../../support/client.js'
import { reasonOf, told, writesNothing } from '../calls/given.js'
import { sharedService, someProject } from '../shared-service.js'
import type { TestService } from '../../support/service.js'

describe('items of annotation queues', () => {
  let service: TestService
  let client: Client
  let queue: string
  before(async () => (service = await sharedService()))
  beforeEach(async () => {
    client = service.in(someProject())
    queue = await client.queues.create('q')
  })

  /** Calls that start a second apart, in reverse order. */
  const someCalls = async (count: number, more: object = {}): Promise<readonly string[]> => {
    const calls = Array.from({ length: count }, (_, i) => ({
      id: `call-${i}`,
      trace_id: `trace-${i}`,
      op_name: `op-${i % 2}`,
      started_at: `2026-01-01T00:00:${String(59 - i).padStart(2, '0')}Z`,
      ended_at: '2026-01-01T00:02:00Z',
      ...more,
    }))
    await client.calls.complete(calls)
    return calls.map(({ id }) => id)
  }
  const progress = (item: string, annotation_state: string, of = queue) =>
    client.queues.post(`/${of}/items/${item}/progress`, { annotation_state })
  const itemOf = async (call_id: string) => (await client.queues.items(queue, { filter: { call_id } }))[0]!
  const callsIn = async (more: object = {}) =>
    (await client.queues.items(queue, more)).map(({ call_id }) => call_id as string)
  const stats = async (...queue_ids: readonly string[]) => client.queues.post('/stats', { queue_ids }).json()

  it('are the calls that were added, each once, in the order of the requests', async () => {
    const [a, b, c] = (await someCalls(3)) as [string, string, string]
    const added = await client.queues.add(queue, b, a, b, 'absent').json()
    assert.deepEqual(added, { added_count: 2, duplicates: 1, not_found: ['absent'] })
    await writesNothing(service, async () =>
      assert.deepEqual(await client.queues.add(queue, a, b).json(), {
        added_count: 0,
        duplicates: 2,
        not_found: [],
      }),
    )
    assert.deepEqual(await client.queues.add(queue, c, a).json(), {
      added_count: 1,
      duplicates: 1,
      not_found: [],
    })
    assert.deepEqual(await callsIn(), [b, a, c])
    const { id, created_at, updated_at, project_id, ...item } = await itemOf(b)
    assert.ok(typeof id === 'string' && typeof project_id === 'string')
    assert.equal(created_at, updated_at)
    assert.deepEqual(item, {
      queue_id: queue,
      call_id: b,
      call_op_name: 'op-1',
      call_trace_id: 'trace-1',
      call_started_at: '2026-01-01T00:00:58.000000Z',
      call_ended_at: '2026-01-01T00:02:00.000000Z',
      display_fields: ['inputs.a'],
      added_by: 'admin',
      created_by: 'admin',
      annotation_state: 'unstarted',
      annotator_user_id: null,
      position_in_queue: null,
      deleted_at: null,
    })
  })

  it('show the end of a call that ended after it was added', async () => {
    const { id } = await client.calls.start().json()
    await client.queues.add(queue, id).json()
    assert.equal((await itemOf(id))['call_ended_at'], null)
    await client.calls.end(id)
    assert.equal((await itemOf(id))['call_ended_at'], '2026-01-01T00:00:01.000000Z')
  })

  it('move through their states', async () => {
    const [a, b] = (await someCalls(2)) as [string, string]
    await client.queues.add(queue, a, b).json()
    const { id } = await itemOf(a)
    const state = async (to: string) =>
      (await progress(id as string, to).json()).item.annotation_state as string
    assert.equal(await state('in_progress'), 'in_progress')
    await writesNothing(service, async () => assert.equal(await state('in_progress'), 'in_progress'))
    const { item } = await progress(id as string, 'completed').json()
    assert.deepEqual(item, await itemOf(a))
    assert.equal(item.annotator_user_id, 'admin')
    assert.ok(item.updated_at > item.created_at)
    await writesNothing(service, async () => {
      assert.equal(await state('completed'), 'completed')
      for (const to of ['skipped', 'in_progress'])
        assert.match(reasonOf(await progress(id as string, to), 400), /Invalid state transition/)
      for (const word of ['unstarted', 'done', '', 'COMPLETED'])
        reasonOf(await progress(id as string, word), 400)
    })
    assert.equal(
      (await progress((await itemOf(b))['id'] as string, 'skipped').json()).item.annotation_state,
      'skipped',
    )
    assert.deepEqual(await stats(queue, 'absent', queue), {
      stats: [{ queue_id: queue, total_items: 2, completed_items: 2 }],
      not_found: ['absent'],
    })
  })

  it('refuse progress on an unknown item and on one of another queue', async () => {
    const [a] = (await someCalls(1)) as [string]
    await client.queues.add(queue, a).json()
    const other = await client.queues.create('other')
    const { id } = await itemOf(a)
    for (const answer of [
      await progress('absent', 'completed'),
      await progress('x'.repeat(300), 'completed'),
      await progress(id as string, 'completed', other),
    ])
      reasonOf(answer, 400)
    assert.deepEqual(
      told(await client.queues.post(`/${queue}/items/${id}/progress`, { annotation_state: 1 })),
      ['string_type annotation_state'],
    )
  })

  it('are filtered, sorted and cut, with positions in the whole queue', async () => {
    const calls = await someCalls(5)
    await client.queues.add(queue, ...calls).json()
    await progress((await itemOf(calls[3]!))['id'] as string, 'completed').json()
    assert.deepEqual(await callsIn({ filter: { call_op_name: 'op-1' } }), [calls[1], calls[3]])
    assert.deepEqual(await callsIn({ filter: { call_trace_id: 'trace-4' } }), [calls[4]])
    assert.deepEqual(await callsIn({ filter: { added_by: 'nobody' } }), [])
    assert.deepEqual(await callsIn({ filter: { annotation_states: ['completed', 'skipped'] } }), [calls[3]])
    assert.deepEqual(await callsIn({ filter: { annotation_states: [] }, limit: 2, offset: 2 }), [
      calls[2],
      calls[3],
    ])
    const sort_by = [{ field: 'call_started_at', direction: 'asc' }]
    const filter = { annotation_states: ['unstarted'] }
    const placed = await client.queues.items(queue, {
      sort_by,
      filter,
      include_position: true,
      limit: 2,
      offset: 1,
    })
    assert.deepEqual(
      placed.map((item) => [item['call_id'], item['position_in_queue']]),
      [
        [calls[2], 3],
        [calls[1], 4],
      ],
    )
    const byState = [{ field: 'annotation_state', direction: 'asc' }]
    assert.equal((await callsIn({ sort_by: byState }))[0], calls[3])
    reasonOf(
      await client.queues.post(`/${queue}/items/query`, { sort_by: [{ field: 'x', direction: 'asc' }] }),
      403,
    )
    const odd = { filter: { annotation_states: ['done'] } }
    assert.deepEqual(told(await client.queues.post(`/${queue}/items/query`, odd)), [
      'literal_error filter.annotation_states.0',
    ])
  })

  it('disappear with their calls', async () => {
    const [a, b] = (await someCalls(2)) as [string, string]
    await client.queues.add(queue, a, b).json()
    const { id } = await itemOf(a)
    const { headers } = await client.queues.post('/stats', { queue_ids: [queue] })
    await client.calls.delete(a).json()
    assert.deepEqual(await callsIn(), [b])
    assert.equal((await stats(queue)).stats[0].total_items, 1)
    reasonOf(await progress(id as string, 'completed'), 400)
    assert.deepEqual(await client.queues.add(queue, a).json(), {
      added_count: 0,
      duplicates: 0,
      not_found: [a],
    })
    const then = client.with({ headers: { 'Tallytree-As-Of': headers.get('tallytree-position')! } })
    assert.equal((await then.queues.items(queue)).length, 2)
  })

  it('refuse more calls or fields than one request takes', async () => {
    const many = Array.from({ length: 10_001 }, (_, i) => `c-${i}`)
    assert.equal((await client.queues.add(queue, ...many)).status, 413)
    const display_fields = Array(101).fill('inputs')
    const body = { call_ids: ['c'], display_fields }
    assert.deepEqual(told(await client.queues.post(`/${queue}/items`, body)), ['too_long display_fields'])
  })

  it('are added in batches of thousands', async () => {
    const calls = Array.from({ length: 2500 }, (_, i) => ({ id: `many-${String(i).padStart(4, '0')}` }))
    for (let at = 0; at < calls.length; at += 500) await client.calls.complete(calls.slice(at, at + 500))
    const ids = calls.map(({ id }) => id)
    const added = await client.queues.add(queue, ...ids).json()
    assert.deepEqual(added, { added_count: 2500, duplicates: 0, not_found: [] })
    assert.deepEqual(await callsIn(), ids)
  })
})

describe('calls by annotation queue', () => {
  const project = someProject()
  let client: Client
  before(async () => (client = (await sharedService()).in(project)))
  const field = { $getField: 'annotation_queue_items.queue_id' }

  it('are selected by any query on the queues that they are in', async () => {
    const ids = ['a', 'b', 'c', 'd']
    await client.calls.complete(ids.map((id, i) => ({ id, started_at: `2026-01-01T00:00:0${i}Z` })))
    const one = await client.queues.create('one')
    const two = await client.queues.create('two')
    const gone = await client.queues.create('gone')
    await client.queues.add(one, 'a', 'b').json()
    await client.queues.add(two, 'b', 'c').json()
    await client.queues.add(gone, 'd').json()
    const cases: readonly (readonly [object, readonly string[]])[] = [
      [{ $eq: [field, { $literal: one }] }, ['a', 'b']],
      [{ $eq: [{ $literal: two }, field] }, ['b', 'c']],
      [{ $eq: [field, { $literal: gone }] }, ['d']],
      [{ $eq: [field, { $literal: 'absent' }] }, []],
      [{ $in: [field, [one, two].map(($literal) => ({ $literal }))] }, ['a', 'b', 'c']],
      [{ $in: [{ $literal: two }, [field]] }, ['b', 'c']],
      [{ $not: [{ $eq: [field, { $literal: one }] }] }, ['c', 'd']],
      [{ $and: [one, two].map(($literal) => ({ $eq: [field, { $literal }] })) }, ['b']],
      [{ $or: [one, gone].map(($literal) => ({ $eq: [field, { $literal }] })) }, ['a', 'b', 'd']],
      [{ $contains: { input: field, substr: { $literal: two.slice(3) } } }, ['b', 'c']],
      [{ $eq: [field, field] }, ['a', 'b', 'c', 'd']],
      [{ $eq: [field, { $literal: null }] }, []],
      [{ $and: [{ $convert: { input: field, to: 'exists' } }] }, ['a', 'b', 'c', 'd']],
      [{ $eq: [{ $convert: { input: field, to: 'string' } }, { $literal: two }] }, ['b', 'c']],
    ]
    for (const [$expr, expected] of cases) {
      const query = { $expr }
      assert.deepEqual(await client.calls.ids({ query }), expected, JSON.stringify($expr))
      const streamed = await client.calls.stream({ query }).lines()
      assert.deepEqual(
        streamed.map(({ id }) => id),
        expected,
      )
      assert.equal((await client.calls.count({ query }).json()).count, expected.length)
    }
    await client.send('DELETE', `/annotation_queues/${gone}?project_id=${project}`)
    const none = { query: { $expr: { $eq: [field, { $literal: null }] } } }
    assert.deepEqual(await client.calls.ids(none), ['d'])
    const ofGone = { query: { $expr: { $eq: [field, { $literal: gone }] } } }
    assert.deepEqual(await client.calls.ids(ofGone), [])
    const sort_by = [{ field: field.$getField, direction: 'asc' }]
    assert.equal((await client.calls.ids({ sort_by })).at(-1), 'd')
    assert.equal(
      (
        await client.calls.query({
          query: { $expr: { $eq: [{ $getField: 'annotation_queue_items.x' }, field] } },
        })
      ).status,
      403,
    )
  })
})
