import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { anEnd, aStart, endItem, startItem } from '../../support/call-requests.js'
import { accepted, reasonOf, told } from './given.js'

const OP = 'weave:///team/project/op/answer:v1'

type Way = (service: TestService, body: object) => Promise<readonly string[]>

/** The endpoints that take a query, and the ids of the calls that each of them selects. */
const WAYS: Readonly<Record<string, Way>> = {
  '/calls/query': (service, body) => service.calls.ids(body),
  '/calls/stream_query': async (service, body) =>
    (await service.calls.stream(body).lines()).map(({ id }) => id as string),
  '/trace/usage': async (service, body) =>
    Object.keys((await service.usage.ofTraces(body).json()).call_usage),
  '/calls/stats': async (service, body) => {
    const asked = { ...NEEDED, granularity: 1, call_metrics: [{ metric: 'call_count' }], ...body }
    const { call_buckets } = await service.calls.stats(asked).json()
    const seconds = call_buckets as readonly { call_count_sum: number }[]
    return ['a', 'b', 'c', 'd'].filter((_, second) => seconds[second]!.call_count_sum === 1)
  },
}

/** The calls begin within these seconds, one in each. */
const NEEDED = { start: '2026-01-01T00:00:00Z', end: '2026-01-01T00:00:04Z' }

const PATHS: Readonly<Record<string, object>> = {
  ...Object.fromEntries(Object.keys(WAYS).map((path) => [path, {}])),
  '/calls/query_stats': {},
  '/calls/stats': NEEDED,
}

const field = ($getField: string) => ({ $getField })
const literal = ($literal: unknown) => ({ $literal })
const eq = (name: string, value: unknown) => ({ $eq: [field(name), literal(value)] })
const convert = (input: unknown, to: string) => ({ $convert: { input, to } })
const contains = (name: string, substr: unknown, more: object = {}) => ({
  $contains: { input: field(name), substr: literal(substr), ...more },
})

describe('a query of calls', () => {
  let service: TestService
  let project: string

  before(async () => {
    service = await sharedService()
    project = someProject()
    const at = (second: number) => `2026-01-01T00:00:0${second}.000001Z`
    const calls = [
      aStart(project, {
        id: 'a',
        started_at: at(0),
        op_name: OP,
        display_name: 'First',
        thread_id: 'th',
        turn_id: 'tu',
        attributes: { weave: { source: 'js-sdk' }, 'a.b': 1, env: 'prod' },
        inputs: {
          x: 1,
          y: '1',
          text: 'Hello, wide World',
          list: [{ z: 5 }, { z: 'six' }],
          tags: ['red', 'blue'],
        },
        wb_run_id: 'run',
        wb_run_step: 7,
      }),
      aStart(project, {
        id: 'b',
        started_at: at(1),
        op_name: 'answer',
        trace_id: 'a',
        parent_id: 'a',
        attributes: { env: '' },
        inputs: { x: 1.5, y: 'one', truth: true, nothing: null, ref: 'weave:///team/project/object/set:d1' },
      }),
      aStart(project, {
        id: 'c',
        started_at: at(2),
        op_name: 'other',
        trace_id: 'a',
        parent_id: 'a',
        inputs: { x: '20', zero: '-0', truth: false, deep: { 'dotted.key': { '0': 'zero' } } },
      }),
      aStart(project, { id: 'd', started_at: at(3), op_name: 'other', otel_dump: { span: 'd' } }),
    ]
    const ends = [
      anEnd(project, 'a', {
        ended_at: '2026-01-01T00:00:05Z',
        output: { score: 0.5 },
        summary: { status_counts: { error: 1 }, usage: { m: { requests: 1 } }, own: 'mine' },
      }),
      anEnd(project, 'b', { ended_at: '2026-01-01T00:00:02Z', exception: 'Boom: it failed', output: null }),
      anEnd(project, 'c', { ended_at: '2026-01-01T00:00:04Z', output: 'a text' }),
    ]
    const batch = [...calls.map(startItem), ...ends.map(endItem)]
    accepted(await service.post('/call/upsert_batch', { batch }))
    for (const [id, feedback_type, payload] of [
      ['a', 'wandb.runnable.judge', { output: { score: 3, good: true } }],
      ['a', 'wandb.reaction.1', { emoji: '👍' }],
      ['c', 'wandb.runnable.judge', { output: { score: 1 } }],
      ['c', 'wandb.runnable.judge', { output: { score: 9 } }],
    ] as const) {
      const weave_ref = `weave:///${project}/call/${id}`
      const runnable_ref = feedback_type.includes('runnable') ? 'weave:///team/project/object/judge:v1' : null
      await service.in(project).feedback.create({ weave_ref, feedback_type, payload, runnable_ref }).json()
    }
  })

  const SCORE = 'feedback.[wandb.runnable.judge].payload.output.score'
  const epoch = Date.UTC(2026, 0, 1) / 1000
  const cases: readonly (readonly [string, object, string])[] = [
    ['a bare literal, as the specification shows', { $and: [literal('...')] }, 'a b c d'],
    ['a bare literal that is not there', { $and: [literal('')] }, ''],
    ['a bare literal that is false', { $and: [literal(false)] }, ''],
    ['a field alone', { $and: [field('inputs.truth')] }, 'b'],
    ['no alternatives', { $or: [] }, ''],
    ['no conditions', { $and: [] }, 'a b c d'],

    ['$eq of text', eq('op_name', 'answer'), 'b'],
    ['$eq turned around', { $eq: [literal('answer'), field('op_name')] }, 'b'],
    ['$eq of null', eq('parent_id', null), 'a d'],
    ['$eq of the empty string', eq('parent_id', ''), 'a d'],
    ['$eq of an empty value with null', eq('attributes.env', null), 'b c d'],
    [
      '$gt, $gte',
      { $and: [{ $gt: [field('inputs.x'), literal(1)] }, { $gte: [field('inputs.x'), literal(1.5)] }] },
      'b c',
    ],
    [
      '$lt, $lte',
      { $and: [{ $lt: [field('inputs.x'), literal(2)] }, { $lte: [field('inputs.x'), literal(1)] }] },
      'a',
    ],
    ['$not of a comparison, where the value is missing', { $not: [eq('inputs.x', 1)] }, 'b c'],
    ['$in', { $in: [field('id'), [literal('a'), literal('d'), literal('z')]] }, 'a d'],
    ['$in of 0, which -0 is', { $in: [field('inputs.zero'), [literal(0)]] }, 'c'],
    ['$in of numbers, mixed', { $in: [field('inputs.x'), [literal(1), literal(1.5)]] }, 'a b'],
    ['$contains', contains('inputs.text', 'wide'), 'a'],
    ['$contains in another case', contains('inputs.text', 'WIDE'), ''],
    ['$contains in any case', contains('inputs.text', 'WIDE', { case_insensitive: true }), 'a'],
    ['$not of $contains of what is missing', { $not: [contains('inputs.text', 'wide')] }, 'b c d'],
    ['$contains in a list', contains('inputs.tags', 'blue'), 'a'],
    ['$containsToken', { $containsToken: { input: field('inputs.text'), substr: literal('World') } }, 'a'],
    [
      '$containsToken of a part',
      { $containsToken: { input: field('inputs.text'), substr: literal('Wor') } },
      '',
    ],

    ['a number without $convert, as an integer', eq('inputs.x', 1), 'a'],
    ['a number in text', eq('inputs.x', 20), 'c'],
    ['a double', eq('inputs.x', 1.5), 'b'],
    ['a truth', eq('inputs.truth', true), 'b'],
    ['a truth that is false', eq('inputs.truth', false), 'c'],
    ['text that is a number', eq('inputs.y', '1'), 'a'],
    ['$convert to a double', { $eq: [convert(field('inputs.y'), 'double'), literal(1)] }, 'a'],
    [
      '$convert that fails, which is null',
      { $eq: [convert(field('inputs.y'), 'double'), literal(null)] },
      'b c d',
    ],
    ['$convert to a string', { $eq: [convert(field('inputs.x'), 'string'), literal('1.5')] }, 'b'],
    [
      '$convert of the empty text, which is no value',
      { $eq: [convert(literal(''), 'string'), field('parent_id')] },
      '',
    ],
    ['$convert to an int', { $eq: [convert(field('inputs.x'), 'int'), literal(20)] }, 'c'],
    ['$convert to a truth', { $eq: [convert(field('inputs.truth'), 'bool'), literal(true)] }, 'b'],
    ['what exists', { $and: [convert(field('inputs.y'), 'exists')] }, 'a b'],
    ['what does not exist', { $not: [convert(field('inputs.nothing'), 'exists')] }, 'a b c d'],

    ['an escaped dot', eq('attributes.a\\.b', 1), 'a'],
    ['an escaped dot further in, and digits as a key', eq('inputs.deep.dotted\\.key.0', 'zero'), 'c'],
    ['an index of a list', eq('inputs.list.0.z', 5), 'a'],
    ['another index', eq('inputs.list.1.z', 'six'), 'a'],
    ['a dumped column', eq('inputs_dump.list.1.z', 'six'), 'a'],
    ['an attribute', eq('attributes.weave.source', 'js-sdk'), 'a'],
    ['an output', { $gte: [field('output.score'), literal(0.5)] }, 'a'],
    ['an output that is text', eq('output', 'a text'), 'c'],
    ['a summary as written', eq('summary.own', 'mine'), 'a'],
    ['usage', eq('summary.usage.m.requests', 1), 'a'],

    ['a start in seconds', { $gt: [field('started_at'), literal(epoch + 2)] }, 'c d'],
    ['a start to the microsecond', eq('started_at', epoch + 1.000001), 'b'],
    ['a start as a date', { $lt: [field('started_at'), literal('2026-01-01T00:00:01Z')] }, 'a'],
    ['an end', { $lte: [field('ended_at'), literal(epoch + 4)] }, 'b c'],
    ['no end', eq('ended_at', null), 'd'],
    ['a deletion', eq('deleted_at', null), 'a b c d'],
    ['an exception', contains('exception', 'boom', { case_insensitive: true }), 'b'],
    ['a thread and a turn', { $and: [eq('thread_id', 'th'), eq('turn_id', 'tu')] }, 'a'],
    ['a user', eq('wb_user_id', 'admin'), 'a b c d'],
    ['a run and its step', { $and: [eq('wb_run_id', 'run'), eq('wb_run_step', 7)] }, 'a'],
    ['a name', eq('display_name', 'First'), 'a'],
    ['a span', eq('otel_dump.span', 'd'), 'd'],
    ['a reference', contains('input_refs', 'object/set'), 'b'],
    ['the project', { $not: [eq('project_id', 'another/project')] }, 'a b c d'],
    ['the size', { $gt: [field('storage_size_bytes'), literal(100)] }, 'a b'],

    ['errors', eq('summary.weave.status', 'error'), 'b'],
    ['running calls', eq('summary.weave.status', 'running'), 'd'],
    ['errors below', eq('summary.weave.status', 'descendant_error'), 'a'],
    ['success', eq('summary.weave.status', 'success'), 'c'],
    ['a latency', { $gte: [field('summary.weave.latency_ms'), literal(2000)] }, 'a'],
    [
      'a trace’s name',
      { $in: [field('summary.weave.trace_name'), [literal('First'), literal('answer')]] },
      'a b',
    ],

    ['feedback of a type', eq(SCORE, 3), 'a'],
    ['one of the feedback of a type', eq(SCORE, 1), 'c'],
    ['more than one of it', { $gt: [field(SCORE), literal(2)] }, 'a c'],
    ['less than one of it', { $lt: [field(SCORE), literal(2)] }, 'c'],
    ['none of it', { $not: [{ $gt: [field(SCORE), literal(2)] }] }, 'b d'],
    ['different feedback for each condition', { $and: [eq(SCORE, 1), eq(SCORE, 9)] }, 'c'],
    ['feedback among values', { $in: [field(SCORE), [literal(1), literal('x')]] }, 'c'],
    ['converted feedback', { $gte: [{ $convert: { input: field(SCORE), to: 'double' } }, literal(9)] }, 'c'],
    ['feedback that is true', { $and: [field('feedback.[*].payload.output.good')] }, 'a'],
    [
      'feedback that exists',
      { $and: [{ $convert: { input: field('feedback.[*].payload.output.score'), to: 'exists' } }] },
      'a c',
    ],
    ['feedback of any type', eq('feedback.[*].payload.emoji', '👍'), 'a'],
    ['other feedback of any type', eq('feedback.[*].payload.output.score', 3), 'a'],
    [
      'text in feedback',
      { $contains: { input: field('feedback.[*].payload.output'), substr: literal('good') } },
      'a',
    ],
    [
      'feedback equal to other feedback',
      { $eq: [field(SCORE), field('feedback.[*].payload.output.score')] },
      'a c',
    ],
    ['a time of feedback', { $gt: [field('feedback.[*].created_at'), literal('2020-01-01')] }, 'a c'],
    ['no feedback', eq('feedback.[*].feedback_type', null), 'b d'],
    ['who gave it', eq('feedback.[wandb.reaction.1].wb_user_id', 'admin'), 'a'],
  ]
  // The endpoints share the code that selects, so each case is asked at the first one and in turn at another.
  const [first, ...others] = Object.entries(WAYS)
  for (const [index, [name, $expr, expected]] of cases.entries())
    for (const [way, ask] of [first!, others[index % others.length]!])
      it(`to ${way} selects by ${name}`, async () => {
        const ids = await ask(service, { project_id: project, query: { $expr } })
        assert.equal(ids.toSorted().join(' '), expected)
      })

  it('is counted', async () => {
    for (const [name, $expr, expected] of cases) {
      const answer = await service.in(project).calls.count({ query: { $expr } }).json()
      assert.equal(answer['count'], expected.split(' ').filter((id) => id !== '').length, name)
    }
  })

  it('selects among what a filter selects', async () => {
    const query = { $expr: eq('op_name', 'other') }
    for (const ask of Object.values(WAYS))
      assert.deepEqual(await ask(service, { project_id: project, filter: { trace_ids: ['a'] }, query }), [
        'c',
      ])
  })

  const orders: readonly (readonly [string, string, string])[] = [
    ['inputs.x', 'asc', 'a b c d'],
    ['inputs.x', 'desc', 'c b a d'],
    ['summary.weave.latency_ms', 'desc', 'a c b d'],
    ['summary.weave.latency_ms', 'asc', 'b c a d'],
    ['summary.weave.status', 'asc', 'a b d c'],
    ['feedback.[wandb.runnable.judge].payload.output.score', 'desc', 'c a b d'],
    ['storage_size_bytes', 'desc', 'a b c d'],
    ['total_storage_size_bytes', 'desc', 'a d b c'],
  ]
  for (const [name, direction, expected] of orders)
    it(`may be answered in the order of ${name} ${direction}, page by page`, async () => {
      const { calls } = service.in(project)
      const sort_by = [{ field: name, direction }]
      assert.equal((await calls.ids({ sort_by })).join(' '), expected)
      const pages = await Promise.all([0, 1, 2, 3].map((offset) => calls.ids({ sort_by, limit: 1, offset })))
      assert.equal(pages.flat().join(' '), expected)
    })

  const UNKNOWN = [
    'CANARY',
    'id.x',
    'op_name.a',
    'renamed',
    'started_position',
    'call_id',
    '__proto__',
    'constructor',
    'inputsx',
    'inputs\\.x',
    'started_at.x',
    'input_refs.0',
    'total_storage_size_bytes.x',
    'summary.weave.status.x',
    'feedback',
    'feedback.[]',
    'feedback.[a]',
    'feedback.[].payload',
    'feedback.[*].nothing',
    'feedback.[*].payload_dumb',
    'feedback.[*].creator.x',
    'feedback.*.payload',
    'feedback[*].payload',
    "id' OR 1=1 --",
    'id; DROP TABLE calls',
    '{project:String}',
    'toString(id)',
    '`id`',
    '"id"',
    '\u0000',
  ]
  for (const [path, needed] of Object.entries(PATHS))
    it(`to ${path} names no field that calls do not have`, async () => {
      for (const name of UNKNOWN) {
        const answer = await service.post(path, {
          project_id: project,
          ...needed,
          query: { $expr: eq(name, 1) },
        })
        assert.equal(reasonOf(answer, 403), `Field ${name} is not allowed`)
      }
      const long = 'x'.repeat(1_000_000)
      const answer = await service.post(path, {
        project_id: project,
        ...needed,
        query: { $expr: eq(long, 1) },
      })
      assert.ok(reasonOf(answer, 403).length < 400)
    })

  const wrong: readonly (readonly [unknown, string])[] = [
    [7, 'model_attributes_type query'],
    [{}, 'missing query.$expr'],
    [{ $expr: eq('id', 1), more: 1 }, 'extra_forbidden query.more'],
    [{ $expr: literal(true) }, 'value_error query.$expr'],
    [{ $expr: field('id') }, 'value_error query.$expr'],
    [{ $expr: { $eq: [field('id')] } }, 'too_short query.$expr.$eq'],
    [{ $expr: { $and: [eq('id', 1), { $nor: [] }] } }, 'value_error query.$expr.$and.1'],
    [{ $expr: { $or: [{ $not: [field(7 as never)] }] } }, 'string_type query.$expr.$or.0.$not.0.$getField'],
    [{ $expr: { $in: [field('id'), ['a']] } }, 'value_error query.$expr.$in.1.0'],
    ...['', '.', 'inputs.', '.inputs', 'inputs..x', 'feedback.', 'inputs.x\\'].map(
      (name) => [{ $expr: eq(name, 1) }, 'value_error query.$expr.$eq.0.$getField'] as const,
    ),
    [{ $expr: { $contains: { input: field('id') } } }, 'missing query.$expr.$contains.substr'],
    [{ $expr: { $and: [convert(field('id'), 'date')] } }, 'literal_error query.$expr.$and.0.$convert.to'],
  ]
  for (const [path, needed] of Object.entries(PATHS))
    it(`to ${path} is told where it is wrong`, async () => {
      for (const [query, problem] of wrong)
        assert.equal(told(await service.post(path, { project_id: project, ...needed, query }))[0], problem)
      let deep: object = eq('id', 'a')
      for (let level = 0; level < 40; level += 1) deep = { $not: [deep] }
      const [problem] = told(
        await service.post(path, { project_id: project, ...needed, query: { $expr: deep } }),
      )
      assert.match(problem!, /^recursion_depth query\.\$expr(\.\$not\.0)+/)
      const wide = { $or: Array.from({ length: 1001 }, () => literal(1)) }
      assert.match(
        told(await service.post(path, { project_id: project, ...needed, query: { $expr: wide } }))[0]!,
        /^too_long query\.\$expr\.\$or\.\d+$/,
      )
    })

  const HOSTILE = [
    "'",
    "\\'",
    '\\',
    "' OR '1'='1",
    "'; DROP TABLE calls; --",
    '{x0:String}',
    '{project:String}',
    '$1',
    '%',
    '(a+)+$',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    `${'a'.repeat(50_000)}!`,
    '\u0000',
    '\ud800',
    '`',
    '/*',
    '\\N',
    '.*',
    '[',
    'NULL',
    'a\nb',
    '1e999',
    '0x10',
  ]
  it('takes what clients write for data, as values, as keys and as types of feedback', async () => {
    const { calls } = service.in(project)
    const count = async ($expr: object) => {
      const answer = await calls.count({ query: { $expr } })
      return accepted(answer)['count']
    }
    for (const value of HOSTILE) {
      const key = `k${value.replaceAll('\\', '').replaceAll('.', '\\.')}`
      const $or = [
        eq('id', value),
        eq('inputs.text', value),
        contains('inputs.y', value, { case_insensitive: true }),
        { $containsToken: { input: field('op_name'), substr: literal(value) } },
        { $in: [field('trace_id'), [literal(value), literal(value)]] },
        eq(`inputs.${key}`, value),
        eq(`feedback.[${key}].payload.${key}`, value),
      ]
      assert.equal(await count({ $or }), 0, value)
      await calls.ids({ sort_by: [{ field: `inputs.${key}`, direction: 'asc' }] })
    }
    assert.equal(await count({ $and: [] }), 4)
  })
})
