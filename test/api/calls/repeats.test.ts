import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { anEnd, aStart } from '../../support/call-requests.js'
import { accepted, reasonOf, typesOf, writesNothing } from './given.js'

describe('a start sent again', () => {
  let service: TestService
  before(async () => (service = await sharedService()))
  const post = (start: unknown) => service.post('/call/start', typeof start === 'string' ? start : { start })

  const first = {
    trace_id: 't',
    started_at: '2026-01-31T09:30:00.5Z',
    wb_run_step: 1,
    inputs: { a: { b: 1, c: [1, 2] }, d: null },
    attributes: { n: 1 },
  }
  const same: Readonly<Record<string, object>> = {
    'in other words': {},
    'with null for what was absent': {
      display_name: null,
      parent_id: null,
      thread_id: null,
      turn_id: null,
      otel_dump: null,
      wb_run_id: null,
    },
    'with nothing for what was absent': {
      display_name: '',
      parent_id: '',
      thread_id: '',
      turn_id: '',
      wb_run_id: '',
    },
    'at the same instant, from elsewhere': { started_at: '2026-01-31T11:30:00.500000+02:00' },
    'at the same instant, without an offset': { started_at: '2026-01-31 09:30:00.5' },
    'with its keys in another order': { inputs: { d: null, a: { c: [1, 2], b: 1 } } },
    'with another user': { wb_user_id: 'mallory' },
    'with keys that nobody knows': { unknown: 1, summary: {} },
  }
  for (const [name, more] of Object.entries(same))
    it(`is the same ${name}`, async () => {
      const project = someProject()
      const start = aStart(project, { id: 'c', ...first })
      const answered = accepted(await post(start))
      await writesNothing(service, async () =>
        assert.deepEqual(accepted(await post({ ...start, ...more })), answered),
      )
    })

  it('is the same with its numbers written otherwise', async () => {
    const project = someProject()
    const text = JSON.stringify({ start: aStart(project, { id: 'c', ...first }) })
    const other = text
      .replace('"wb_run_step":1', '"wb_run_step":1.0')
      .replace('"n":1', '"n":10e-1')
      .replace('"b":1', '"b":1.000')
    assert.notEqual(other, text)
    accepted(await post(text))
    await writesNothing(service, async () => accepted(await post(other)))
  })

  const different: Readonly<Record<string, object>> = {
    'another op': { op_name: 'other' },
    'a microsecond later': { started_at: '2026-01-31T09:30:00.500001Z' },
    'in another trace': { trace_id: 'u' },
    'in no trace': { trace_id: null },
    'with another name': { display_name: 'name' },
    'with another step': { wb_run_step: 2 },
    'without a step': { wb_run_step: null },
    'with a list in another order': { inputs: { a: { b: 1, c: [2, 1] }, d: null } },
    'with a key left out': { inputs: { a: { b: 1, c: [1, 2] } } },
    'with a text for a number': { attributes: { n: '1' } },
    'with a dump': { otel_dump: {} },
  }
  for (const [name, more] of Object.entries(different))
    it(`is a conflict ${name}: the first stands, and the other is kept once`, async () => {
      const project = someProject()
      const start = aStart(project, { id: 'c', ...first })
      accepted(await post(start))
      const reason = reasonOf(await post({ ...start, ...more }), 409)
      assert.match(reason, /already recorded/)
      await writesNothing(service, async () => {
        assert.equal(reasonOf(await post({ ...start, ...more }), 409), reason)
        accepted(await post(start))
      })
      assert.deepEqual(await typesOf(service, project, 'c'), ['CallStarted', 'ConflictingCallStartReported'])
      assert.equal((await service.in(project).calls.read('c')).op_name, 'answer')
    })

  it('at the same time from many is one start', async () => {
    const project = someProject()
    const start = aStart(project, { id: 'c', ...first })
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(start)))
    for (const answer of answers) assert.deepEqual(accepted(answer), { id: 'c', trace_id: 't' })
    assert.deepEqual(await typesOf(service, project, 'c'), ['CallStarted'])
  })
})

describe('an end sent again', () => {
  let service: TestService
  before(async () => (service = await sharedService()))
  const post = (end: unknown) => service.post('/call/end', { end })

  const first = {
    output: { a: [1], b: 2 },
    summary: { usage: { m: { requests: 1 } } },
    exception: 'boom',
    wb_run_step_end: 3,
  }
  const same: Readonly<Record<string, object>> = {
    'in other words': {},
    'at the same instant': { ended_at: '2026-01-01T01:00:01+01:00' },
    'with its keys in another order': { output: { b: 2, a: [1] } },
    'with what newer clients send': {
      trace_id: 'other',
      started_at: '2026-01-01',
      is_eval: true,
      display_name: 'x',
    },
  }
  for (const [name, more] of Object.entries(same))
    it(`is the same ${name}`, async () => {
      const end = anEnd(someProject(), 'c', first)
      accepted(await post(end))
      await writesNothing(service, async () =>
        assert.deepEqual(accepted(await post({ ...end, ...more })), {}),
      )
    })

  it('is the same whether nothing is absent, null or empty', async () => {
    const end = anEnd(someProject(), 'c')
    accepted(await post(end))
    await writesNothing(service, async () => {
      for (const nothing of [null, ''])
        accepted(await post({ ...end, exception: nothing, output: null, wb_run_step_end: null }))
    })
    // An empty text is an output all the same.
    reasonOf(await post({ ...end, output: '' }), 409)
  })

  for (const more of [
    { output: null },
    { summary: {} },
    { exception: null },
    { wb_run_step_end: 4 },
    { ended_at: '2026-01-02' },
  ])
    it(`is a conflict with ${JSON.stringify(more)}: the first stands, and the other is kept once`, async () => {
      const project = someProject()
      const { calls } = service.in(project)
      const end = anEnd(project, 'c', first)
      await calls.start({ id: 'c' }).json()
      accepted(await post(end))
      reasonOf(await post({ ...end, ...more }), 409)
      await writesNothing(service, async () => {
        reasonOf(await post({ ...end, ...more }), 409)
        accepted(await post(end))
      })
      assert.deepEqual(await typesOf(service, project, 'c'), [
        'CallStarted',
        'CallEnded',
        'ConflictingCallEndReported',
      ])
      assert.deepEqual((await calls.read('c')).output, first.output)
    })

  it('before its start is the same as after it', async () => {
    const project = someProject()
    const { calls } = service.in(project)
    const end = anEnd(project, 'c', first)
    accepted(await post(end))
    assert.equal(await calls.read('c'), null)
    await calls.start({ id: 'c' }).json()
    await writesNothing(service, () => post(end))
    const { exception, output, summary } = await calls.read('c')
    assert.deepEqual([exception, output, summary.weave.status], ['boom', first.output, 'error'])
  })
})

describe('the user of a call', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  it('is the one of the key, whatever the body says', async () => {
    const project = someProject()
    const { calls } = service.in(project)
    const start = aStart(project, { id: 'c', wb_user_id: 'mallory' })
    await service.calls.start(start).json()
    accepted(
      await service.post('/call/upsert_batch', {
        batch: [{ mode: 'start', req: { start: { ...start, id: 'd' } } }],
      }),
    )
    const completed = { ...start, ...anEnd(project, 'e'), trace_id: 'e' }
    accepted(await service.post(`/v2/${project}/calls/complete`, { batch: [completed] }))
    await calls.update('c', { display_name: 'n', wb_user_id: 'mallory' }).json()
    for (const id of ['c', 'd', 'e']) assert.equal((await calls.read(id)).wb_user_id, 'admin')
    const answer = await calls.query({ filter: { wb_user_ids: ['mallory'] } })
    assert.deepEqual(accepted(answer), { calls: [] })
  })
})
