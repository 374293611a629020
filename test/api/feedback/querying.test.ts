import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { itInFull } from '../../counts.js'
import { sharedService, someProject } from '../shared-service.js'
import { aCompleted } from '../../support/call-requests.js'
import { accepted, reasonOf, told, writesNothing } from '../calls/given.js'
import { column, eq, feedbackOf, field, literal, refOfCall, someFeedback } from './given.js'

interface ReadCall {
  readonly summary: {
    readonly weave: { readonly feedback: readonly { readonly payload: { readonly id: string } }[] }
  }
}

const feedbackIn = ({ summary }: ReadCall) => summary.weave.feedback.map(({ payload }) => payload.id)

describe('querying feedback', () => {
  let service: TestService
  let project: string
  const ask = (body: object) => service.in(project).feedback.query(body)
  const ids = (more: object) => column(service, project, 'id', more)

  before(async () => {
    service = await sharedService()
    project = someProject()
    const batch = [
      someFeedback(project, {
        id: 'a',
        payload: { score: 1, tags: ['x', 'y'], 'a.b': { 0: 'zero' } },
        creator: 'Ada',
      }),
      someFeedback(project, { id: 'b', payload: { score: 10, note: "it's" }, feedback_type: 'other' }),
      someFeedback(project, { id: 'c', payload: { score: '9', big: 1e20 } }),
      someFeedback(project, { id: 'd', payload: { score: null } }),
      someFeedback(project, {
        id: 'e',
        payload: { score: 'high', share: 0.22323896460701453 },
        weave_ref: refOfCall(project, 'another'),
      }),
    ]
    accepted(await service.post('/feedback/batch/create', { batch }))
  })

  const selected: readonly (readonly [object, string])[] = [
    [eq('id', 'a'), 'a'],
    [eq('creator', null), 'b c d e'],
    [eq('creator', ''), 'b c d e'],
    [{ $not: [eq('creator', 'x')] }, 'a'],
    [eq('payload.score', 1), 'a'],
    [eq('payload.score', '1'), 'a'],
    [{ $gt: [field('payload.score'), literal(5)] }, 'b c'],
    [{ $gte: [field('payload.score'), literal('9')] }, 'c e'],
    [eq('payload.big', 1e20), 'c'],
    [eq('payload.share', 0.22323896460701453), 'e'],
    [eq('payload.a\\.b.0', 'zero'), 'a'],
    [eq('payload.tags.1', 'y'), 'a'],
    [{ $contains: { input: field('payload.tags'), substr: literal('X'), case_insensitive: true } }, 'a'],
    [{ $in: [field('id'), [literal('b'), literal("d' OR 1=1")]] }, 'b'],
    [{ $eq: [{ $convert: { input: field('payload.score'), to: 'exists' } }, literal(false)] }, 'd'],
    [{ $gt: [field('created_at'), literal(0)] }, 'a b c d e'],
    [{ $lt: [field('created_at'), literal('2020-01-01T00:00:00Z')] }, ''],
    [{ $and: [{ $literal: '...' }] }, 'a b c d e'],
    [{ $and: [] }, 'a b c d e'],
    [{ $or: [] }, ''],
    [eq('weave_ref', 'weave:///x/y/call/z'), ''],
  ]
  for (const [$expr, expected] of selected)
    it(`selects by ${JSON.stringify($expr)}`, async () =>
      assert.equal((await ids({ query: { $expr } })).join(' '), expected))

  it('is in the order of time, or of what is asked', async () => {
    const by = (name: string, direction = 'asc') => ({ sort_by: [{ field: name, direction }] })
    assert.deepEqual(await ids({}), ['a', 'b', 'c', 'd', 'e'])
    assert.deepEqual(await ids(by('id', 'desc')), ['e', 'd', 'c', 'b', 'a'])
    assert.deepEqual(await ids(by('payload.score')), ['a', 'c', 'b', 'e', 'd'])
    assert.deepEqual(await ids(by('payload.score', 'desc')), ['b', 'c', 'a', 'e', 'd'])
    assert.deepEqual(await ids({ ...by('id', 'desc'), limit: 2, offset: 1 }), ['d', 'c'])
    assert.deepEqual(await ids({ limit: 0 }), [])
    assert.equal(accepted(await ask({ limit: 1 }))['total_count'], 5)
    assert.equal(accepted(await ask({ query: { $expr: eq('id', 'a') } }))['total_count'], 1)
  })

  it('answers the fields asked for, as they are', async () => {
    const fields = ['id', 'payload.score', 'payload.tags.0', 'payload.a\\.b', 'payload.none', 'creator']
    assert.deepEqual(await feedbackOf(service, project, { fields, limit: 2 }), [
      {
        id: 'a',
        'payload.score': 1,
        'payload.tags.0': 'x',
        'payload.a\\.b': { 0: 'zero' },
        'payload.none': null,
        creator: 'Ada',
      },
      {
        id: 'b',
        'payload.score': 10,
        'payload.tags.0': null,
        'payload.a\\.b': null,
        'payload.none': null,
        creator: null,
      },
    ])
  })

  it('is refused for fields there are not', async () => {
    for (const name of [
      'nothing',
      'id.x',
      'given_position',
      'constructor',
      '__proto__',
      "x'; DROP TABLE feedback",
    ]) {
      const reason = `Field ${name} is not allowed`
      assert.equal(reasonOf(await ask({ query: { $expr: eq(name, 1) } }), 403), reason)
      assert.equal(reasonOf(await ask({ fields: [name] }), 403), reason)
      assert.equal(reasonOf(await ask({ sort_by: [{ field: name, direction: 'asc' }] }), 403), reason)
    }
    assert.ok(reasonOf(await ask({ fields: ['x'.repeat(100_000)] }), 403).length < 500)
  })

  it('is refused where it is not well formed, naming the place', async () => {
    const problems: readonly (readonly [unknown, string])[] = [
      [
        { $expr: { $and: [{ $eq: [{ $getField: 7 }, { $literal: 1 }] }] } },
        'string_type query.$expr.$and.0.$eq.0.$getField',
      ],
      [{ $expr: {} }, 'value_error query.$expr'],
      [{ $expr: { $literal: 1 } }, 'value_error query.$expr'],
      [{ $expr: { $eq: [{ $literal: 1 }] } }, 'too_short query.$expr.$eq'],
      [{ $expr: { $not: [{ $literal: 1 }, { $literal: 1 }] } }, 'too_long query.$expr.$not'],
      [{ $expr: { $and: [] }, more: 1 }, 'extra_forbidden query.more'],
      [{}, 'missing query.$expr'],
    ]
    for (const [query, problem] of problems) assert.deepEqual(told(await ask({ query })), [problem])
  })

  it('counts with the field count(*), as the Python SDK asks', async () => {
    const counted = async (query: object | null) =>
      accepted(await ask({ fields: ['count(*)'], query, limit: 1 }))['result']
    const all = accepted(await ask({}))['total_count']
    assert.deepEqual(await counted(null), [{ 'count(*)': all }])
    assert.deepEqual(await counted({ $expr: eq('id', 'no such feedback') }), [{ 'count(*)': 0 }])
    assert.equal((await ask({ fields: ['count(*)', 'id'] })).status, 403)
  })

  itInFull('may be as large as the grammar allows', async () => {
    const deep = (n: number) => `payload${'.0'.repeat(8)}.${n}`
    const query = { $expr: { $or: Array.from({ length: 30 }, (_, n) => field(deep(n))) } }
    const sort_by = Array.from({ length: 8 }, (_, n) => ({ field: deep(n), direction: 'asc' }))
    assert.deepEqual(await ids({ query, sort_by, limit: 1 }), [])
    const more = Array.from({ length: 9 }, (_, n) => ({ field: deep(n), direction: 'asc' }))
    assert.deepEqual(told(await ask({ sort_by: more })), ['too_long sort_by'])
    const fields = Array.from({ length: 1001 }, (_, n) => `payload.${n}`)
    assert.deepEqual(told(await ask({ fields })), ['too_long fields'])
  })

  it('says that a query has more parts than the engine takes', async () => {
    const deep = (n: number) => `payload${'.0'.repeat(30)}.${n}`
    const query = { $expr: { $or: Array.from({ length: 30 }, (_, n) => field(deep(n))) } }
    const sort_by = Array.from({ length: 8 }, (_, n) => ({ field: deep(n), direction: 'asc' }))
    assert.match(reasonOf(await ask({ query, sort_by, limit: 1 }), 502), /Narrow the filter/)
  })

  it('purges by ids alone', async () => {
    const own = someProject()
    const given = ['1', '2', '3', '4'].map((id) => someFeedback(own, { id }))
    accepted(await service.post('/feedback/batch/create', { batch: given }))
    const purge = ($expr: object) => service.in(own).feedback.purge({ query: { $expr } })
    await writesNothing(service, async () => {
      for (const odd of [
        { $and: [] },
        eq('creator', 'x'),
        { $eq: [field('id'), field('id')] },
        { $or: [eq('id', '1'), { $gt: [field('id'), literal('0')] }] },
        { $in: [field('id'), [field('id')]] },
        eq('id', 1),
        { $not: [eq('id', '1')] },
      ])
        reasonOf(await purge(odd), 400)
      accepted(await purge(eq('id', 'unknown')))
      accepted(await purge(eq('id', '\u0000')))
      accepted(await purge({ $or: [] }))
    })
    accepted(await purge(eq('id', '1')))
    accepted(await purge({ $or: [eq('id', '2'), { $in: [field('id'), [literal('3')]] }] }))
    assert.deepEqual(await column(service, own, 'id'), ['4'])
    await writesNothing(service, async () => accepted(await purge(eq('id', '1'))))
  })

  it('stands in the summary of calls that are read with it', async () => {
    const own = someProject()
    const calls = ['one', 'two'].map((id) =>
      aCompleted(own, { id, summary: { weave: { feedback: 'mine', kept: 1 } } }),
    )
    accepted(await service.post(`/v2/${own}/calls/complete`, { batch: calls }))
    const batch = ['x', 'y'].map((id) =>
      someFeedback(own, { id, weave_ref: refOfCall(own, 'two'), payload: { id } }),
    )
    accepted(await service.post('/feedback/batch/create', { batch }))
    for (const columns of [null, ['id'], ['summary']]) {
      const body = { project_id: own, include_feedback: true, columns }
      const { calls: read } = JSON.parse((await service.post('/calls/query', body)).text)
      assert.deepEqual(read.map(feedbackIn), [[], ['x', 'y']])
      const lines = (await service.post('/calls/stream_query', body)).text.trim().split('\n')
      assert.deepEqual(
        lines.map((line) => JSON.parse(line)),
        read,
      )
      if (columns?.[0] !== 'id') assert.equal(read[0].summary.weave.kept, 1)
    }
    const { calls: plain } = JSON.parse((await service.in(own).calls.query()).text)
    assert.equal(plain[1].summary.weave.feedback, 'mine')
  })
})

describe('feedback on deleted calls', () => {
  it('disappears with the call and its descendants, and is refused afterwards', async () => {
    const service = await sharedService()
    const project = someProject()
    const client = service.in(project)
    const calls = [
      aCompleted(project, { id: 'root', trace_id: 'root' }),
      aCompleted(project, { id: 'child', trace_id: 'root', parent_id: 'root' }),
      aCompleted(project, { id: 'other' }),
    ]
    accepted(await service.post(`/v2/${project}/calls/complete`, { batch: calls }))
    const on = (name: string, more = '') =>
      someFeedback(project, { weave_ref: `${refOfCall(project, name)}${more}`, payload: { note: name } })
    const batch = [on('root'), on('child'), on('other'), on('absent'), on('root', '/attr/output')]
    accepted(await service.post('/feedback/batch/create', { batch }))
    const notes = async (more: object = {}) =>
      ((await client.feedback.query({ fields: ['payload.note'], ...more }).json()).result as object[])
        .map((one) => Object.values(one)[0] as string)
        .sort()
    assert.deepEqual(await notes(), ['absent', 'child', 'other', 'root', 'root'])
    const before = await service.post('/feedback/query', { project_id: project })

    const deleted = await service.post('/calls/delete', { project_id: project, call_ids: ['root'] })
    accepted(deleted)
    assert.deepEqual(await notes(), ['absent', 'other'])
    assert.deepEqual(await notes({ query: { $expr: eq('weave_ref', refOfCall(project, 'child')) } }), [])
    for (const name of ['root', 'child'])
      assert.match(reasonOf(await client.feedback.create(on(name)), 404), /weave_ref: the call was deleted/)
    accepted(await client.feedback.create(on('other')))
    accepted(await service.post('/feedback/batch/create', { batch: [on('root'), on('other')] }))
    assert.deepEqual(await notes(), ['absent', 'other', 'other', 'other'])
    const headers = { 'Tallytree-As-Of': before.headers.get('tallytree-position')! }
    const past = await service.post('/feedback/query', { project_id: project }, { headers })
    assert.equal((JSON.parse(past.text) as { result: readonly unknown[] }).result.length, 5)
  })
})
