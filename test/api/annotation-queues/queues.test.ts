import assert from 'node:assert/strict'
import type { Client } from '../../support/client.js'
import { reasonOf, told, writesNothing } from '../calls/given.js'
import { sharedService, someProject } from '../shared-service.js'
import type { TestService } from '../../support/service.js'

describe('annotation queues', () => {
  let service: TestService
  let client: Client
  let project: string
  before(async () => (service = await sharedService()))
  beforeEach(() => (client = service.in((project = someProject()))))

  const at = (id: string) => `/annotation_queues/${id}?project_id=${encodeURIComponent(project)}`
  const read = (id: string) => client.send('GET', at(id))
  const change = (id: string, body: object) =>
    client.send('PUT', `/annotation_queues/${id}`, { project_id: project, ...body })
  const remove = (id: string) => client.send('DELETE', at(id))
  const names = async (body: object = {}) =>
    (await client.queues.post('/query', body).lines()).map(({ name }) => name as string)

  it('are created, read, changed and deleted', async () => {
    const id = await client.queues.create('Reviews', {
      description: 'Be kind',
      scorer_refs: ['weave:///a/b/scorer/s:1'],
    })
    const { queue } = (await read(id)).json<{ queue: Record<string, unknown> }>()
    const { created_at, updated_at, ...rest } = queue
    assert.deepEqual(rest, {
      id,
      project_id: project,
      name: 'Reviews',
      description: 'Be kind',
      scorer_refs: ['weave:///a/b/scorer/s:1'],
      created_by: 'admin',
      deleted_at: null,
    })
    assert.equal(created_at, updated_at)
    const changed = (await change(id, { name: 'Others' })).json<{ queue: Record<string, unknown> }>().queue
    assert.deepEqual(changed, { ...queue, name: 'Others', updated_at: changed['updated_at'] })
    assert.deepEqual((await read(id)).json(), { queue: changed })
    const deleted = (await remove(id)).json<{ queue: Record<string, unknown> }>().queue
    assert.deepEqual(deleted, { ...changed, deleted_at: deleted['deleted_at'] })
    assert.ok(typeof deleted['deleted_at'] === 'string')
    assert.deepEqual(await names(), [])
  })

  it('answer 404 when the queue is absent or deleted', async () => {
    const id = await client.queues.create('q')
    await remove(id)
    for (const queue of [id, 'absent', 'x'.repeat(300), '%00'])
      await writesNothing(service, async () => {
        reasonOf(await read(queue), 404)
        reasonOf(await change(queue, { name: 'n' }), 404)
        reasonOf(await remove(queue), 404)
        reasonOf(await client.queues.add(queue, 'c'), 404)
        reasonOf(await client.queues.post(`/${queue}/items/query`), 404)
        reasonOf(await client.queues.post(`/${queue}/items/i/progress`, { annotation_state: 'skipped' }), 404)
      })
  })

  it('stay as they are when an update has no fields or the same values', async () => {
    const id = await client.queues.create('q')
    const before = (await read(id)).json()
    await writesNothing(service, async () => {
      for (const body of [{}, { name: null, description: null, scorer_refs: null }, { name: 'q' }])
        assert.deepEqual((await change(id, body)).json(), before)
    })
  })

  it('are listed by a part of the name in any case, sorted, and by range', async () => {
    for (const name of ['Zebra', 'anna', 'ÄRGER', 'banana']) await client.queues.create(name)
    assert.deepEqual(await names(), ['banana', 'ÄRGER', 'anna', 'Zebra'])
    assert.deepEqual(await names({ name: 'AN' }), ['banana', 'anna'])
    assert.deepEqual(await names({ name: 'ärg' }), ['ÄRGER'])
    assert.deepEqual(await names({ name: '%' }), [])
    const sort_by = [{ field: 'name', direction: 'asc' }]
    assert.deepEqual(await names({ sort_by, limit: 2, offset: 1 }), ['anna', 'banana'])
    assert.deepEqual(await names({ sort_by: [], limit: 0 }), [])
    reasonOf(await client.queues.post('/query', { sort_by: [{ field: 'nothing', direction: 'asc' }] }), 403)
    assert.deepEqual(told(await client.queues.post('/query', { limit: -1 })), ['greater_than_equal limit'])
  })

  it('are created once under an idempotency key', async () => {
    const under = client.with({ headers: { 'idempotency-key': project } })
    const id = await under.queues.create('q')
    await writesNothing(service, async () => assert.equal(await under.queues.create('q'), id))
    reasonOf(await under.queues.post('', { name: 'other', scorer_refs: [] }), 409)
    assert.notEqual(await client.queues.create('q'), id)
  })

  it('refuse content that does not fit', async () => {
    const create = (body: object) => client.queues.post('', { name: 'q', scorer_refs: [], ...body })
    assert.deepEqual(told(await create({ name: '' })), ['string_too_short name'])
    assert.deepEqual(told(await create({ name: 'x'.repeat(2000) })), ['string_too_long name'])
    assert.deepEqual(told(await create({ scorer_refs: [1] })), ['string_type scorer_refs.0'])
    assert.deepEqual(told(await create({ scorer_refs: Array(101).fill('r') })), ['too_long scorer_refs'])
    assert.deepEqual(told(await create({ extra: 1 })), ['extra_forbidden extra'])
    const id = await client.queues.create('q')
    assert.deepEqual(told(await change(id, { name: '' })), ['string_too_short name'])
  })

  it('are read as of an earlier position', async () => {
    const id = await client.queues.create('first')
    const { headers } = await read(id)
    await change(id, { name: 'second' })
    await remove(id)
    const then = client.with({ headers: { 'Tallytree-As-Of': headers.get('tallytree-position')! } })
    assert.equal((await then.send('GET', at(id))).json<{ queue: { name: string } }>().queue.name, 'first')
    assert.equal((await then.queues.post('/query').lines()).length, 1)
  })

  it('of another team or project are not found', async () => {
    const id = await client.queues.create('q')
    const { id: call } = await client.calls.start().json()
    await client.queues.add(id, call).json()
    const [item] = await client.queues.items(id)
    const team = someProject().split('/')[0]!
    await service.teams.create(team)
    const key = await service.teams.keyOf(team, `u-${team}`, 'member')
    for (const other of [service.in(`${team}/p`).with({ key }), service.in(`${project}2`)]) {
      const path = `/annotation_queues/${id}`
      reasonOf(await other.queues.post(`/${id}/items/query`), 404)
      reasonOf(await other.queues.add(id, call), 404)
      reasonOf(
        await other.queues.post(`/${id}/items/${item!['id']}/progress`, { annotation_state: 'skipped' }),
        404,
      )
      assert.deepEqual(await other.queues.post('/stats', { queue_ids: [id] }).json(), {
        stats: [],
        not_found: [id],
      })
      assert.deepEqual(await other.queues.post('/query').lines(), [])
      assert.equal((await other.send('GET', `${path}?project_id=${team}/p`)).status, 404)
    }
    const foreign = service.in(project).with({ key })
    for (const answer of [
      await foreign.queues.post('', { name: 'q', scorer_refs: [] }),
      await foreign.queues.post('/query'),
      await foreign.queues.post('/stats', { queue_ids: [id] }),
      await foreign.queues.add(id, call),
      await foreign.send('GET', at(id)),
      await foreign.send('DELETE', at(id)),
      await foreign.send('PUT', `/annotation_queues/${id}`, { project_id: project, name: 'x' }),
    ])
      reasonOf(answer, 404)
  })
})
