import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { Answered } from '../../support/client.js'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { aCompleted, anEnd, aStart, endItem, startItem } from '../../support/call-requests.js'
import {
  accepted,
  refusedElementsOf,
  rejectedIn,
  reasonOf,
  textIn,
  told,
  typesOf,
  writesNothing,
} from './given.js'

const resOf = (answer: Answered): readonly JsonObject[] =>
  accepted(answer)['res'] as unknown as readonly JsonObject[]

const refusedOf = (answer: Answered): number => Number(answer.headers.get('tallytree-refused') ?? 0)

/** What was kept of refused elements in a project: type, place, text. */
const keptIn = async (service: TestService, project: string) =>
  (await refusedElementsOf(service, project)).map(({ type, data }) => {
    assert.equal(type, 'ElementRefused')
    assert.equal(data['project_id'], project)
    return [textIn(data, 'type'), (data['loc'] as unknown[]).join('.'), data['raw']] as const
  })

describe('the envelope of a batch', () => {
  let service: TestService
  before(async () => (service = await sharedService()))
  const post = (body: unknown) => service.post('/call/upsert_batch', body)

  it('is strict', async () => {
    assert.deepEqual(told(await post({})), ['missing batch'])
    assert.deepEqual(told(await post({ batch: [], more: 1 })), ['extra_forbidden more'])
    assert.deepEqual(told(await post({ more: 1, mode: 2 })), [
      'missing batch',
      'extra_forbidden more',
      'extra_forbidden mode',
    ])
    assert.deepEqual(told(await post('{"__proto__": {"batch": []}}')), [
      'missing batch',
      'extra_forbidden __proto__',
    ])
    for (const batch of [null, {}, 'x', 7, true, { length: 1, 0: {} }])
      assert.deepEqual(told(await post({ batch })), ['list_type batch'])
  })

  it('has 100,000 elements at most, and of more none is kept', async () => {
    const project = someProject()
    const batch = Array<number>(100_001).fill(0)
    const complete = `/v2/${project}/calls/complete`

    assert.match(reasonOf(await post({ batch }), 413), /100000 elements/)
    assert.match(reasonOf(await service.post(complete, { batch }), 413), /100000 elements/)
    assert.deepEqual(await keptIn(service, project), [])
  })

  it('reports at most 100 of many extra keys', async () => {
    const extras = Array.from({ length: 90_000 }, (_, i) => `"k${i}": 0`).join()
    const answer = await post(`{"batch": [], ${extras}}`)
    assert.ok(told(answer).length <= 100)
  })

  it('refuses too many members of one object, and too many values, with the limit', async () => {
    const members = Array.from({ length: 100_001 }, (_, i) => `"k${i}": 0`).join()
    const limits = /more than 4000000 JSON values, or an object with more than 100000 members/
    assert.match(reasonOf(await post(`{"batch": [{${members}}]}`), 413), limits)
    assert.match(reasonOf(await post(`{"batch": [${'0,'.repeat(4_000_000)}0]}`), 413), limits)
  })

  it('tolerates more keys around completed calls, as real servers do', async () => {
    const project = someProject()
    const path = `/v2/${project}/calls/complete`
    accepted(await service.post(path, { batch: [aCompleted(project, { id: 'c' })], more: 1 }))
    assert.ok(await service.in(project).calls.read('c'))
    assert.deepEqual(told(await service.post(path, { more: 1 })), ['missing batch'])
    assert.deepEqual(told(await service.post(path, { batch: {} })), ['list_type batch'])
  })

  it('may be empty', async () => {
    await writesNothing(service, async () => {
      assert.deepEqual(resOf(await post({ batch: [] })), [])
      accepted(await service.post(`/v2/${someProject()}/calls/complete`, { batch: [] }))
    })
  })
})

describe('a batch', () => {
  let service: TestService
  before(async () => (service = await sharedService()))
  const post = (batch: readonly unknown[], options = {}) =>
    service.post('/call/upsert_batch', { batch }, options)

  it('answers each element in its place', async () => {
    const project = someProject()
    const batch = [
      startItem(aStart(project, { id: 'a' })),
      endItem(anEnd(project, 'a')),
      startItem(aStart(project, { id: 'b', trace_id: 't' })),
      endItem(anEnd(project, 'unknown')),
    ]
    assert.deepEqual(resOf(await post(batch)), [
      { id: 'a', trace_id: 'a' },
      {},
      { id: 'b', trace_id: 't' },
      {},
    ])
  })

  it('takes start, end and repeats of one call in any order', async () => {
    const project = someProject()
    const [start, end] = [
      startItem(aStart(project, { id: 'c' })),
      endItem(anEnd(project, 'c', { output: 1 })),
    ]
    for (const batch of [
      [start, end, start, end],
      [end, start, end],
      [start, start, end, end],
    ]) {
      const answer = await post(batch)
      for (const [i, one] of resOf(answer).entries())
        assert.deepEqual(one, batch[i] === start ? { id: 'c', trace_id: 'c' } : {})
      assert.equal(refusedOf(answer), 0)
    }
    assert.deepEqual(await typesOf(service, project, 'c'), ['CallStarted', 'CallEnded'])
    const other = someProject()
    await post([endItem(anEnd(other, 'c')), startItem(aStart(other, { id: 'c' }))])
    assert.deepEqual(await typesOf(service, other, 'c'), ['CallEnded', 'CallStarted'])
    assert.ok((await service.in(other).calls.read('c')).ended_at)
  })

  it('names the conflicts, and reports each once', async () => {
    const project = someProject()
    const first = startItem(aStart(project, { id: 'c', trace_id: 't' }))
    const other = startItem(aStart(project, { id: 'c', trace_id: 'u', op_name: 'other' }))
    const ends = [1, 2].map((output) => endItem(anEnd(project, 'c', { output })))
    const answer = await post([first, other, other, ...ends, ...ends])
    assert.deepEqual(resOf(answer).slice(0, 3), Array(3).fill({ id: 'c', trace_id: 't' }))
    assert.equal(refusedOf(answer), 4)
    assert.deepEqual(
      rejectedIn(answer),
      [1, 2, 4, 6].map((at) => `conflict ${at}`),
    )
    assert.deepEqual(await keptIn(service, project), [])
    assert.deepEqual(await typesOf(service, project, 'c'), [
      'CallStarted',
      'ConflictingCallStartReported',
      'CallEnded',
      'ConflictingCallEndReported',
    ])
    await writesNothing(service, () => post([other, first, ...ends]))
    const { op_name, output } = await service.in(project).calls.read('c')
    assert.deepEqual([op_name, output], ['answer', 1])
  })

  it('knows what an element is also by its request, where it does not say so', async () => {
    const project = someProject()
    const batch = [
      { req: { start: aStart(project, { id: 'a' }) } },
      { mode: null, req: { end: anEnd(project, 'a') } },
      { mode: 'start', req: { start: aStart(project, { id: 'b' }) }, more: 'tolerated' },
    ]
    const answer = await post(batch)
    assert.deepEqual(resOf(answer), [{ id: 'a', trace_id: 'a' }, {}, { id: 'b', trace_id: 'b' }])
    assert.equal(refusedOf(answer), 0)
  })

  it('rejects elements that are no starts or ends, and stores the JSON of each', async () => {
    const project = someProject()
    const odd = [
      'null',
      '7',
      '"text"',
      '[]',
      '{}',
      'true',
      '[[{}]]',
      '{"mode":"delete","req":{"start":{}}}',
      '{"mode":"START","req":{"start":{}}}',
      '{"mode":1,"req":{}}',
      '{"mode":"start"}',
      '{"mode":"start","req":null}',
      '{"mode":"start","req":{"end":{}}}',
      '{"mode":"end","req":{"end":{},"more":1}}',
      '{"mode":"start","req":{"start":[]}}',
      '{"req":{"start":{"id":7,"big":12345678901234567890}}}',
    ]
    const good = JSON.stringify(startItem(aStart(project, { id: 'good' })))
    const text = `{"batch": [${good}, ${odd.join(' ,\n')}]}`
    const answer = await service.post('/call/upsert_batch', text)
    assert.deepEqual(resOf(answer), [{ id: 'good', trace_id: 'good' }, ...odd.map(() => ({}))])
    assert.equal(refusedOf(answer), odd.length)
    const kept = await keptIn(service, project)
    assert.deepEqual(
      kept.map(([, , raw]) => raw),
      odd,
    )
    assert.deepEqual(
      kept.map(([type, loc]) => `${type} ${loc.replace(/^body\.batch\.\d+\.?/, '')}`),
      [
        ...Array<string>(10).fill('value_error '),
        'missing req',
        'model_attributes_type req',
        'missing req.start',
        'missing req.end.project_id',
        'model_attributes_type req.start',
        'missing req.start.project_id',
      ],
    )
  })

  it('stores the first 1,000 levels of an element that is nested deeper', async () => {
    const project = someProject()
    const deep = '['.repeat(1_000_000) + ']'.repeat(1_000_000)
    const start = JSON.stringify(aStart(project, { id: 'deep' })).replace(
      '"inputs":{}',
      `"inputs":{"a":${deep}}`,
    )
    const good = JSON.stringify(startItem(aStart(project, { id: 'good' })))
    const answer = await service.post(
      '/call/upsert_batch',
      `{"batch": [{"req":{"start":${start}}}, ${good}]}`,
    )
    assert.deepEqual(
      resOf(answer),
      ['deep', 'good'].map((id) => ({ id, trace_id: id })),
    )
    const [[type, , raw] = []] = await keptIn(service, project)
    assert.equal(type, 'recursion_depth')
    assert.match(raw as string, /"id":"deep".*\[{990}null\]{990}/)
  })

  it('answers a refused start by its id, as if it had been taken', async () => {
    const project = someProject()
    const batch = [
      startItem(aStart(project, { id: 'a', op_name: 7 })),
      startItem(aStart(project, { id: 'b', trace_id: 't', inputs: null })),
      startItem(aStart(project, { id: 'c', trace_id: 7 })),
      startItem(aStart(project, { id: 'd', trace_id: '', attributes: 1 })),
      startItem(aStart(project, { id: 7 })),
      endItem(anEnd(project, 'a', { summary: null })),
    ]
    assert.deepEqual(resOf(await post(batch)), [
      { id: 'a', trace_id: 'a' },
      { id: 'b', trace_id: 't' },
      { id: 'c', trace_id: 'c' },
      { id: 'd', trace_id: 'd' },
      {},
      {},
    ])
  })

  it('sent twice keeps what it refused once', async () => {
    const project = someProject()
    const batch = [
      startItem(aStart(project, { id: 'a' })),
      startItem(aStart(project, { op_name: 'x'.repeat(300_000), id: 'b' })),
      { mode: 'odd', req: {} },
      endItem({}),
    ]
    const first = await post(batch)
    await writesNothing(service, async () => {
      const again = await post(batch)
      assert.equal(again.text, first.text)
      assert.equal(refusedOf(again), 3)
    })
    assert.equal((await keptIn(service, project)).length, 3)
    // New elements among those that are kept already are kept as well.
    await post([...batch, { mode: 'other', req: {} }])
    assert.equal((await keptIn(service, project)).length, 4)
  })

  it('of nothing but refused elements is kept in the project that they name, or in none', async () => {
    const project = someProject()
    const answer = await post([startItem({ project_id: project, id: 'x' }), 'neither'])
    assert.equal(refusedOf(answer), 2)
    assert.equal((await keptIn(service, project)).length, 1)
    assert.ok((await keptIn(service, 'default/unattributed')).some(([, , raw]) => raw === '"neither"'))
  })

  it('of 2,000 elements is one answer, and each refused one is kept in its order', async () => {
    const project = someProject()
    const batch = Array.from({ length: 2000 }, (_, i) =>
      i % 2 === 0 ? startItem(aStart(project, { id: `c${i}` })) : { mode: 'odd', place: i },
    )
    const answer = await post(batch)
    assert.equal(resOf(answer).length, 2000)
    assert.equal(refusedOf(answer), 1000)
    const kept = await keptIn(service, project)
    assert.deepEqual(
      kept.map(([, loc]) => loc),
      Array.from({ length: 1000 }, (_, i) => `body.batch.${2 * i + 1}`),
    )
    const stats = await service.in(project).calls.count().json()
    assert.equal(stats['count'], 1000)
  })

  it('may write to several projects at once', async () => {
    const [one, two] = [someProject(), someProject()]
    await post([startItem(aStart(one, { id: 'c' })), startItem(aStart(two, { id: 'c', op_name: 'other' }))])
    assert.equal((await service.in(one).calls.read('c')).op_name, 'answer')
    assert.equal((await service.in(two).calls.read('c')).op_name, 'other')
  })

  it('of one call with conflicts without number stays one answer', async () => {
    const project = someProject()
    const text = 'x'.repeat(20_000)
    const batch = Array.from({ length: 200 }, (_, i) =>
      endItem(anEnd(project, 'c', { output: `${i}${text}` })),
    )
    assert.equal(resOf(await post([startItem(aStart(project, { id: 'c' })), ...batch])).length, 201)
    assert.equal((await typesOf(service, project, 'c')).length, 201)
    assert.equal((await service.in(project).calls.read('c')).output, `0${text}`)
    await writesNothing(service, () => post(batch))
  })
})

describe('a batch of completed calls', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  it('is start and end of each', async () => {
    const project = someProject()
    const call = aCompleted(project, {
      id: 'c',
      output: 1,
      exception: 'boom',
      parent_id: 'p',
      display_name: 'name',
    })
    assert.deepEqual(accepted(await service.post(`/v2/${project}/calls/complete`, { batch: [call] })), {})
    assert.deepEqual(await typesOf(service, project, 'c'), ['CallStarted', 'CallEnded'])
    await writesNothing(service, async () => {
      accepted(await service.post(`/v2/${project}/calls/complete`, { batch: [call] }))
      await service.calls.start(call).json()
      accepted(await service.post('/call/end', { end: call }))
    })
    reasonOf(await service.post('/call/end', { end: { ...call, output: 2 } }), 409)
  })

  it('refuses a call of another project than the path’s, and keeps it', async () => {
    const [project, other] = [someProject(), someProject()]
    const batch = [aCompleted(other, { id: 'x' }), aCompleted(project, { id: 'y' }), { id: 'z' }]
    const answer = await service.post(`/v2/${project}/calls/complete`, { batch })
    assert.equal(refusedOf(answer), 2)
    assert.deepEqual(
      [await service.in(other).calls.read('x'), (await service.in(project).calls.read('y')).id],
      [null, 'y'],
    )
    // What names no project belongs to the path's.
    assert.equal((await keptIn(service, project)).length, 1)
    assert.equal((await keptIn(service, other)).length, 1)
  })

  it('needs id and trace of each', async () => {
    const project = someProject()
    const { id: _id, ...without } = aCompleted(project)
    const batch = [without, aCompleted(project, { trace_id: null }), aCompleted(project, { id: '' })]
    const answer = await service.post(`/v2/${project}/calls/complete`, { batch })
    assert.equal(refusedOf(answer), 3)
    assert.deepEqual(await service.in(project).calls.ids(), [])
  })

  it('goes to a project with a name that can be one', async () => {
    for (const path of ['a%20b/p', 'a%2Fb/p', '%00/p', 'é/p', `${'e'.repeat(129)}/p`, 'e/%E0%A4%A']) {
      const answer = await service.post(`/v2/${path}/calls/complete`, { batch: [] })
      assert.equal(answer.status, 422)
      assert.match(answer.text, /"loc":\["path","project"\]/)
    }
  })
})
