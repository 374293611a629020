import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { Answered, SendOptions } from '../../support/client.js'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { arbitraryCallId, aStart, startItem } from '../../support/call-requests.js'
import { accepted, reasonOf, textIn, writesNothing } from './given.js'

type Start = Readonly<Record<string, unknown>>

const withoutId = (project: string, more: object = {}): Start => ({
  ...aStart(project),
  id: undefined,
  ...more,
})

describe('a start without an id', () => {
  let service: TestService
  before(async () => (service = await sharedService()))
  const start = (one: Start, options?: SendOptions) => service.post('/call/start', { start: one }, options)
  const batch = (starts: readonly Start[], options?: SendOptions) =>
    service.post('/call/upsert_batch', { batch: starts.map(startItem) }, options)
  const resOf = (answer: Answered) =>
    accepted(answer)['res'] as unknown as readonly { id: string; trace_id: string }[]

  for (const id of [undefined, null, ''])
    it(`is given one, also its trace: ${JSON.stringify(id)}`, async () => {
      const project = someProject()
      const answer = accepted(await start(withoutId(project, { id, trace_id: id, parent_id: id })))
      assert.match(textIn(answer, 'id'), /^[0-9a-f-]{36}$/)
      assert.equal(answer['trace_id'], answer['id'])
      const call = await service.in(project).calls.read(textIn(answer, 'id'))
      assert.deepEqual([call.trace_id, call.parent_id], [answer['id'], null])
    })

  it('is a new call each time', async () => {
    const project = someProject()
    const one = withoutId(project)
    const ids = [
      accepted(await start(one))['id'],
      accepted(await start(one))['id'],
      ...resOf(await batch([one, one])).map(({ id }) => id),
    ]
    assert.equal(new Set(ids).size, 4)
    assert.equal((await service.in(project).calls.ids()).length, 4)
  })

  for (const header of ['Idempotency-Key', 'X-Weave-Retry-Id'])
    it(`can be sent again under ${header}`, async () => {
      const project = someProject()
      const options = { headers: { [header]: arbitraryCallId() } }
      const one = withoutId(project)
      const first = accepted(await start(one, options))
      await writesNothing(service, async () => assert.deepEqual(accepted(await start(one, options)), first))
      const other = accepted(await start(one, { headers: { [header]: arbitraryCallId() } }))
      assert.notEqual(other['id'], first['id'])
    })

  it('is a 409 under the Idempotency-Key of another start', async () => {
    const project = someProject()
    const options = { headers: { 'Idempotency-Key': arbitraryCallId() } }
    const one = withoutId(project)
    accepted(await start(one, options))
    reasonOf(await start({ ...one, op_name: 'other' }, options), 409)
  })

  it('is a new call under the X-Weave-Retry-Id of another start', async () => {
    const project = someProject()
    const options = { headers: { 'X-Weave-Retry-Id': arbitraryCallId() } }
    const one = withoutId(project)
    const first = accepted(await start(one, options))
    const other = accepted(await start({ ...one, op_name: 'other' }, options))
    assert.notEqual(other['id'], first['id'])
  })

  it('has an id by its place in a batch that can be sent again', async () => {
    const project = someProject()
    const options = { headers: { 'Idempotency-Key': arbitraryCallId() } }
    const starts = [withoutId(project), aStart(project, { id: 'given' }), withoutId(project)]
    const first = resOf(await batch(starts, options))
    assert.equal(new Set(first.map(({ id }) => id)).size, 3)
    assert.equal(first[1]?.id, 'given')
    await writesNothing(service, async () => assert.deepEqual(resOf(await batch(starts, options)), first))
  })

  it('is not the same for another user with the same key', async () => {
    const project = someProject()
    const options = { headers: { 'Idempotency-Key': 'one-key' } }
    const [team] = project.split('/') as [string]
    const mine = accepted(await start(withoutId(project), options))
    const { api_key } = accepted(
      await service.post(`/api/teams/${team}/members`, { user: arbitraryCallId(), role: 'member' }),
    ) as { api_key: string }
    const theirs = accepted(await start(withoutId(project), { ...options, key: api_key }))
    assert.notEqual(theirs['id'], mine['id'])
  })

  it('accepts an Idempotency-Key of 1 to 255 bytes, and names the header when it refuses another', async () => {
    const project = someProject()
    const options = (length: number) => ({ headers: { 'Idempotency-Key': 'k'.repeat(length) } })
    accepted(await start(withoutId(project), options(255)))
    for (const length of [0, 256]) {
      const refused = await start(withoutId(project), options(length))
      assert.equal(refused.status, 422)
      assert.match(refused.text, /\["header","Idempotency-Key"\]/)
    }
    const retryId = { headers: { 'X-Weave-Retry-Id': 'k'.repeat(256) } }
    assert.match((await start(withoutId(project), retryId)).text, /\["header","X-Weave-Retry-Id"\]/)
    // A start that has its id needs no key.
    accepted(await start(aStart(project), options(256)))
  })
})

describe('the trace of a start that names none', () => {
  let service: TestService
  before(async () => (service = await sharedService()))
  const start = async (one: object): Promise<JsonObject> => await service.calls.start(one).json()
  const traces = async (starts: readonly object[]): Promise<readonly string[]> => {
    const answer = await service.post('/call/upsert_batch', { batch: starts.map(startItem) })
    return (accepted(answer)['res'] as unknown as readonly { trace_id: string }[]).map(
      ({ trace_id }) => trace_id,
    )
  }

  it('is its own id without a parent, or with one nobody knows', async () => {
    const project = someProject()
    assert.deepEqual(await start(aStart(project, { id: 'a' })), { id: 'a', trace_id: 'a' })
    assert.deepEqual(await start(aStart(project, { id: 'b', parent_id: 'never' })), {
      id: 'b',
      trace_id: 'b',
    })
    assert.deepEqual(await start(aStart(project, { id: 'c', parent_id: 'c' })), { id: 'c', trace_id: 'c' })
  })

  it('is that of its parent whose start is known', async () => {
    const project = someProject()
    await start(aStart(project, { id: 'p', trace_id: 't' }))
    assert.deepEqual(await start(aStart(project, { id: 'a', parent_id: 'p' })), { id: 'a', trace_id: 't' })
    assert.deepEqual(await start(aStart(project, { id: 'b', parent_id: 'a' })), { id: 'b', trace_id: 't' })
    assert.deepEqual(await start(aStart(project, { id: 'c', parent_id: 'p', trace_id: 'own' })), {
      id: 'c',
      trace_id: 'own',
    })
  })

  it('is not that of a parent of the same id in another project', async () => {
    const [project, other] = [someProject(), someProject()]
    await start(aStart(other, { id: 'p', trace_id: 't' }))
    assert.deepEqual(
      await traces([aStart(other, { id: 'p', trace_id: 't' }), aStart(project, { id: 'a', parent_id: 'p' })]),
      ['t', 'a'],
    )
  })

  it('is not that of a parent of which only the end is known', async () => {
    const project = someProject()
    await service.in(project).calls.end('p', { trace_id: 't' }).json()
    assert.deepEqual(await traces([aStart(project, { id: 'a', parent_id: 'p' })]), ['a'])
  })

  it('in a batch is that of a parent that stands before it, not of one behind it', async () => {
    const project = someProject()
    const batch = [
      aStart(project, { id: 'early', parent_id: 'p' }),
      aStart(project, { id: 'p', trace_id: 't' }),
      aStart(project, { id: 'late', parent_id: 'p' }),
      aStart(project, { id: 'grandchild', parent_id: 'late' }),
    ]
    const expected = ['early', 't', 't', 't']
    assert.deepEqual(await traces(batch), expected)
    await writesNothing(service, async () => assert.deepEqual(await traces(batch), expected))
    assert.equal((await service.in(project).calls.read('grandchild')).trace_id, 't')
  })

  it('is that of the stored parent, not of another start of it in the batch', async () => {
    const project = someProject()
    await start(aStart(project, { id: 'p', trace_id: 't' }))
    const batch = [
      aStart(project, { id: 'p', trace_id: 'other' }),
      aStart(project, { id: 'a', parent_id: 'p' }),
    ]
    assert.deepEqual(await traces(batch), ['t', 't'])
  })

  it('stays as it was answered when the parent comes later', async () => {
    const project = someProject()
    const child = aStart(project, { id: 'a', parent_id: 'p' })
    await start(child)
    await start(aStart(project, { id: 'p', trace_id: 't' }))
    await writesNothing(service, async () => assert.deepEqual(await start(child), { id: 'a', trace_id: 'a' }))
    // The trace it was answered may be named in the repeat, another one not.
    await writesNothing(service, () => start({ ...child, trace_id: 'a' }))
    reasonOf(await service.post('/call/start', { start: { ...child, trace_id: 't' } }), 409)
  })

  it('is found for many children of one parent', async () => {
    const project = someProject()
    await start(aStart(project, { id: 'p', trace_id: 't', inputs: { a: 'x'.repeat(200_000) } }))
    const children = Array.from({ length: 500 }, (_, i) => aStart(project, { id: `c${i}`, parent_id: 'p' }))
    assert.deepEqual([...new Set(await traces(children))], ['t'])
  })
})
