import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { startTestService, type TestService } from '../../support/service.js'
import { until } from '../../support/until.js'
import { accepted, reasonOf, textIn } from '../calls/given.js'

const PROJECT = 'default/figures'
const ERASURES = `/api/projects/${PROJECT}/erasures`
const MODEL = 'model-only-of-erased-calls'

describe('an erasure of figures', () => {
  let service: TestService
  const client = () => service.in(PROJECT)
  const used = (tokens: number, model = 'gpt-4o') => ({
    usage: { [model]: { requests: 1, prompt_tokens: tokens, completion_tokens: 1 } },
  })
  const callWith = (id: string, more: object = {}) => ({
    ...{ id, op_name: `op-of-${id}`, output: id, summary: used(10) },
    ...{ started_at: '2026-01-02T03:04:05Z', ended_at: '2026-01-02T03:04:06Z', thread_id: 'thread' },
    ...more,
  })

  before(async () => {
    service = await startTestService()
    await client()
      .calls.complete([
        callWith('root', { trace_id: 'mixed', summary: used(1) }),
        callWith('below', { trace_id: 'mixed', parent_id: 'root', summary: used(100, MODEL) }),
        callWith('leaf', { trace_id: 'mixed', parent_id: 'below', summary: used(1000, MODEL) }),
        callWith('alone', { trace_id: 'alone', thread_id: 'other', started_at: '2026-01-05T00:00:00Z' }),
        callWith('kept', { trace_id: 'kept', started_at: '2026-02-01T00:00:00Z' }),
      ])
      .json()
    for (const id of ['leaf', 'kept'])
      await client()
        .feedback.create({
          weave_ref: `weave:///${PROJECT}/call/${id}`,
          feedback_type: 'wandb.note.1',
          payload: { note: 'good' },
        })
        .json()
    await client()
      .queues.add(await client().queues.create('review'), 'leaf', 'kept')
      .json()
    await client().calls.update('alone', { display_name: 'a name' }).json()
  })
  after(() => service.stop())

  const totals = async (more: object = {}) => {
    const body = { group_by: ['model'], include_costs: true, usage: 'inclusive', ...more }
    return accepted(await client().usage.query(body))
  }
  const erase = async (request: object): Promise<JsonObject> => {
    const { erasure } = accepted(await service.post(ERASURES, { reason: 'asked for', ...request }))
    const id = textIn(erasure as JsonObject, 'id')
    let seen: JsonObject = {}
    await until(async () => {
      seen = accepted(await service.send('GET', `${ERASURES}/${id}`))
      return seen['state'] === 'finished'
    })
    return seen
  }
  const everything = async (): Promise<string> =>
    JSON.stringify([
      await client().calls.query({}).json(),
      await totals(),
      (await client().calls.usage({ call_ids: ['root'] })).text,
      (await client().threads({})).text,
      (await client().feedback.query({}).json()).result,
    ])

  it('removes the calls and all below them from every list and total', async () => {
    const { preview } = accepted(
      await service.post(ERASURES, {
        ...{ selection: { filter: { call_ids: ['below'] } }, figures: true, reason: 'x', dry_run: true },
      }),
    )
    assert.equal((preview as JsonObject)['calls'], 2)
    assert.ok((await everything()).includes(MODEL))
    const receipt = await erase({ selection: { filter: { call_ids: ['below'] } }, figures: true })
    assert.deepEqual([receipt['calls'], receipt['figures']], [2, true])
    await erase({ selection: { filter: { thread_ids: ['other'] } }, figures: true })

    assert.deepEqual(await client().calls.ids({}), ['root', 'kept'])
    const text = await everything()
    for (const gone of [MODEL, 'op-of-below', 'op-of-leaf', 'op-of-alone', 'a name'])
      assert.ok(!text.includes(gone), gone)
    const { text: log } = await service.send('GET', '/api/events?limit=1000')
    for (const gone of [MODEL, 'op-of-below', 'op-of-leaf', '03:04:05', 'a name'])
      assert.equal(log.includes(gone), gone === '03:04:05', gone)
  })

  it('says in totals how many calls are missing', async () => {
    assert.equal((await totals())['erased_calls'], 3)
    const of = (start: string, end: string) => totals({ start, end }).then(({ erased_calls }) => erased_calls)
    assert.equal(await of('2026-01-01T00:00:00Z', '2026-01-04T00:00:00Z'), 2)
    assert.equal(await of('2026-01-05T00:00:00Z', '2026-01-06T00:00:00Z'), 1)
    assert.equal(await of('2026-01-06T00:00:00Z', '2026-03-01T00:00:00Z'), 0)
  })

  it('shows an erased call as erased, and accepts its start and end again without recording them', async () => {
    const read = await client().calls.read('alone')
    assert.deepEqual(
      [read.op_name, read.attributes.tallytree, read.output],
      ['erased', { erased: true }, null],
    )
    const head = await service.stores.eventStore.head()
    await client()
      .calls.complete([callWith('alone', { trace_id: 'alone' })])
      .json()
    assert.equal(await service.stores.eventStore.head(), head)
    reasonOf(await client().calls.update('alone', { display_name: 'again' }), 409)
    assert.deepEqual(await client().calls.ids({}), ['root', 'kept'])
  })

  it('is the same after a rebuild of the read models', async () => {
    const before = await everything()
    const id = textIn(accepted(await service.post('/api/admin/rebuilds', undefined)), 'id')
    await until(async () => {
      const { state } = accepted(await service.send('GET', `/api/admin/rebuilds/${id}`))
      return state === 'finished'
    })
    assert.equal(await everything(), before)
    const damaged = service.logged.filter(({ event }) => event === 'projection.tables_damaged')
    assert.deepEqual(damaged, [])
  })
})
