import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { itInFull } from '../../counts.js'
import { sharedService, someProject } from '../shared-service.js'
import { aCompleted, anEnd, aStart, endItem, startItem } from '../../support/call-requests.js'
import { accepted, reasonOf, told, typesOf, writesNothing } from './given.js'

describe('a deletion', () => {
  let service: TestService
  before(async () => (service = await sharedService()))
  const post = (body: object) => service.post('/calls/delete', body)
  const deleted = async (project_id: string, ...call_ids: readonly string[]) =>
    accepted(await post({ project_id, call_ids }))['num_deleted']
  const started = async (project: string, ...calls: readonly object[]) =>
    await service
      .in(project)
      .calls.batch(calls.map((call) => ({ start: { trace_id: 't', ...call } })))
      .json()
  const usageOf = async (project_id: string) =>
    Object.keys((await service.in(project_id).usage.ofTraces().json()).call_usage as object).sort()

  it('takes the descendants along, and answers how many calls it took', async () => {
    const project = someProject()
    const { calls } = service.in(project)
    await started(
      project,
      { id: 'root' },
      { id: 'a', parent_id: 'root' },
      { id: 'a1', parent_id: 'a' },
      { id: 'a2', parent_id: 'a1' },
      { id: 'b', parent_id: 'root' },
      { id: 'other', trace_id: 'u', parent_id: 'a' },
    )
    assert.equal(await deleted(project, 'a'), 3)
    const left = ['b', 'other', 'root']
    assert.deepEqual((await calls.ids()).toSorted(), left)
    assert.deepEqual(await usageOf(project), left)
    assert.equal((await calls.count().json()).count, 3)
    for (const id of ['a', 'a1', 'a2']) assert.equal(await calls.read(id), null)
  })

  it('done again takes nothing and writes nothing', async () => {
    const project = someProject()
    await started(project, { id: 'root' }, { id: 'a', parent_id: 'root' })
    assert.equal(await deleted(project, 'root', 'root', 'a'), 2)
    await writesNothing(service, async () => {
      assert.equal(await deleted(project, 'root', 'a'), 0)
      assert.equal(await deleted(project, 'unknown'), 0)
      assert.equal(await deleted(project), 0)
    })
  })

  it('makes later writes of the call a conflict, in a batch for their elements only', async () => {
    const project = someProject()
    const { calls } = service.in(project)
    const start = aStart(project, { id: 'c', trace_id: 't' })
    const end = anEnd(project, 'c')
    await service.calls.start(start).json()
    assert.equal(await deleted(project, 'c'), 1)
    await writesNothing(service, async () => {
      for (const answer of [
        await service.post('/call/start', { start }),
        await service.post('/call/start', { start: { ...start, op_name: 'other' } }),
        await service.post(`/v2/${project}/call/end`, { end }),
        await calls.update('c', { display_name: 'n' }),
      ])
        assert.match(reasonOf(answer, 409), /was deleted/)
    })
    const batch = [
      startItem(aStart(project, { id: 'before' })),
      startItem(start),
      endItem(end),
      startItem(aStart(project, { id: 'after' })),
    ]
    const { res, rejected } = accepted(await service.post('/call/upsert_batch', { batch }))
    assert.deepEqual((res as readonly object[])[1], { id: 'c', trace_id: 't' })
    assert.deepEqual(
      (rejected as unknown as readonly { loc: unknown; type: string }[]).map(({ loc, type }) => [type, loc]),
      [1, 2].map((at) => ['conflict', ['body', 'batch', at]]),
    )
    const complete = [aCompleted(project, { id: 'c' }), aCompleted(project, { id: 'd' })]
    const answer = accepted(await service.post(`/v2/${project}/calls/complete`, { batch: complete }))
    assert.equal((answer['rejected'] as readonly object[]).length, 1)
    assert.equal(await calls.read('c'), null)
    assert.deepEqual((await calls.ids()).toSorted(), ['after', 'before', 'd'])
    assert.deepEqual(await typesOf(service, project, 'c'), ['CallStarted', 'CallDeleted'])
  })

  it('ends where parents go round in a circle', async () => {
    const project = someProject()
    await started(
      project,
      { id: 'a', parent_id: 'b' },
      { id: 'b', parent_id: 'c' },
      { id: 'c', parent_id: 'a' },
      { id: 'd', parent_id: 'd' },
    )
    assert.equal(await deleted(project, 'b'), 3)
    assert.equal(await deleted(project, 'd'), 1)
  })

  it('takes nothing of another project', async () => {
    const [project, other] = [someProject(), someProject()]
    await started(project, { id: 'c' })
    await started(other, { id: 'c' }, { id: 'child', parent_id: 'c' })
    assert.equal(await deleted(project, 'c'), 1)
    assert.deepEqual((await service.in(other).calls.ids()).length, 2)
  })

  it('is done once by many at a time', async () => {
    const project = someProject()
    await started(
      project,
      { id: 'root' },
      ...Array.from({ length: 20 }, (_, i) => ({ id: `c${i}`, parent_id: 'root' })),
    )
    const counts = await Promise.all(Array.from({ length: 5 }, () => deleted(project, 'root')))
    assert.equal(
      counts.reduce<number>((sum, count) => sum + Number(count), 0),
      21,
    )
  })

  it('takes the descendants of many calls in many traces, each within its own', async () => {
    const project = someProject()
    const traces = Array.from({ length: 300 }, (_, n) => `t${n}`)
    await started(
      project,
      ...traces.flatMap((trace_id, n) => [
        { id: `r${n}`, trace_id },
        { id: `a${n}`, trace_id, parent_id: `r${n}` },
        { id: `b${n}`, trace_id, parent_id: `a${n}` },
        // Its parent is a call of another trace.
        { id: `c${n}`, trace_id, parent_id: `a${(n + 1) % traces.length}` },
      ]),
    )
    const [odd, even] = [1, 0].map((rest) => traces.map((_, n) => n).filter((n) => n % 2 === rest))
    assert.equal(await deleted(project, ...odd!.map((n) => `a${n}`), ...even!.map((n) => `b${n}`)), 450)
    assert.deepEqual(
      (await service.in(project).calls.ids()).toSorted(),
      traces.flatMap((_, n) => [`r${n}`, `c${n}`, ...(n % 2 === 0 ? [`a${n}`] : [])]).toSorted(),
    )
  })

  itInFull('takes all of more than 10,000 descendants', async () => {
    const project = someProject()
    const size = 10_500
    const calls = Array.from({ length: size }, (_, i) =>
      i === 0 ? { id: 'c0' } : { id: `c${i}`, parent_id: i % 3 === 0 ? 'c0' : `c${i - 1}` },
    )
    for (let from = 0; from < size; from += 3500) await started(project, ...calls.slice(from, from + 3500))
    await started(project, { id: 'kept' })
    assert.equal(await deleted(project, 'c0'), size)
    assert.deepEqual(await service.in(project).calls.ids(), ['kept'])
    assert.equal(await deleted(project, 'c0'), 0)
  })

  it('of more than 1,000 calls at once is a 413 that says so', async () => {
    const call_ids = Array.from({ length: 1001 }, (_, i) => `c${i}`)
    assert.match(reasonOf(await post({ project_id: someProject(), call_ids }), 413), /1000 call_ids/)
    assert.equal(await deleted(someProject(), ...call_ids.slice(1)), 0)
  })

  it('knows ids that no call can have, and says that there is none', async () => {
    const odd = [
      '',
      'a\u0000b',
      "' OR 1=1 --",
      '*',
      '%',
      '\\',
      'x'.repeat(100_000),
      '\ufffd',
      '{project:String}',
    ]
    const project = someProject()
    await started(project, { id: 'c' })
    assert.equal(await deleted(project, ...odd), 0)
    assert.ok(await service.in(project).calls.read('c'))
  })

  it('is strict', async () => {
    assert.deepEqual(told(await post({})), ['missing project_id', 'missing call_ids'])
    for (const [field, value, problem] of [
      ['call_ids', null, 'list_type call_ids'],
      ['call_ids', 'c', 'list_type call_ids'],
      ['call_ids', ['c', 7, null], 'string_type call_ids.1'],
      ['wb_user_id', 7, 'string_type wb_user_id'],
      ['filter', {}, 'extra_forbidden filter'],
    ] as const) {
      const answer = await post({ project_id: someProject(), call_ids: [], [field]: value })
      assert.equal(told(answer)[0], problem)
    }
  })
})
