import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { anEnd, aStart, endItem, startItem } from '../../support/call-requests.js'
import { accepted, reasonOf, told } from './given.js'

const OP = 'weave:///team/project/op/answer:v1'
const OP2 = 'weave:///team/project/op/answer:v2'
const LONGER = 'weave:///team/project/op/answering:v1'
const OBJECT = 'weave:///team/project/object/set:d1'
const OBJECT2 = 'weave:///team/project/object/set:d2'

const LISTS = [
  'op_names',
  'input_refs',
  'output_refs',
  'parent_ids',
  'trace_ids',
  'call_ids',
  'thread_ids',
  'turn_ids',
  'wb_user_ids',
  'wb_run_ids',
] as const

/** The endpoints that take a filter, and the ids of the calls each of them selects. */
const ways: Readonly<
  Record<string, (service: TestService, project: string, filter: unknown) => Promise<readonly string[]>>
> = {
  '/calls/query': (service, project_id, filter) => service.in(project_id).calls.ids({ filter }),
  '/calls/stream_query': async (service, project_id, filter) => {
    const answer = await service.in(project_id).calls.stream({ filter })
    assert.equal(answer.status, 200, answer.text)
    assert.match(answer.headers.get('content-type') ?? '', /^application\/jsonl/)
    assert.ok(answer.text === '' || answer.text.endsWith('\n'))
    return answer.text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { id: string }).id)
  },
  '/trace/usage': async (service, project_id, filter) => {
    const { call_usage } = await service.in(project_id).usage.ofTraces({ filter }).json()
    return Object.keys(call_usage as object)
  },
}

describe('a filter', () => {
  let service: TestService
  let project: string

  before(async () => {
    service = await sharedService()
    project = someProject()
    const calls = [
      { id: 'a', op_name: OP, thread_id: 'th1', turn_id: 'tu1', wb_run_id: 'run1', inputs: { x: [OBJECT] } },
      {
        id: 'b',
        op_name: OP2,
        thread_id: 'th2',
        turn_id: 'tu1',
        wb_run_id: `${project}/run1`,
        parent_id: 'a',
        trace_id: 'a',
      },
      {
        id: 'c',
        op_name: LONGER,
        wb_run_id: 'other/project/run1',
        inputs: { deep: { er: { ref: OBJECT2 } } },
        parent_id: 'b',
        trace_id: 'a',
      },
      {
        id: 'd',
        op_name: 'answer',
        inputs: { text: `see ${OBJECT}`, [OBJECT]: 1 },
        parent_id: 'gone',
        trace_id: 'd',
      },
      {
        id: 'e',
        op_name: 'plain:op',
        inputs: { a: OBJECT, b: OBJECT2 },
        thread_id: 'th1',
        wb_run_id: 'run2',
      },
    ]
    const ends = [
      endItem(anEnd(project, 'a', { output: { ref: [OBJECT] } })),
      endItem(anEnd(project, 'b', { output: OBJECT2 })),
      endItem(anEnd(project, 'c', { output: `${OBJECT}suffix` })),
    ]
    const batch = [...calls.map((call) => startItem(aStart(project, call))), ...ends]
    const answer = await service.post('/call/upsert_batch', { batch })
    accepted(answer)
    assert.equal(answer.headers.get('tallytree-refused'), null)
  })

  const all = 'a b c d e'
  const cases: readonly (readonly [string, object | null, string])[] = [
    ['nothing', null, all],
    ['no key', {}, all],
    ['empty lists', Object.fromEntries(LISTS.map((key) => [key, []])), all],
    ['nulls', Object.fromEntries([...LISTS, 'trace_roots_only'].map((key) => [key, null])), all],

    ['a call', { call_ids: ['c'] }, 'c'],
    ['several calls, one of them twice, one unknown', { call_ids: ['c', 'a', 'c', 'x'] }, 'a c'],
    ['a trace', { trace_ids: ['a'] }, 'a b c'],
    ['traces', { trace_ids: ['a', 'd'] }, 'a b c d'],
    ['a parent', { parent_ids: ['b'] }, 'c'],
    ['a parent that never came', { parent_ids: ['gone'] }, 'd'],
    ['an empty parent', { parent_ids: [''] }, ''],
    ['roots', { trace_roots_only: true }, 'a e'],
    ['not only roots', { trace_roots_only: false }, all],
    ['a thread', { thread_ids: ['th1'] }, 'a e'],
    ['a turn', { turn_ids: ['tu1'] }, 'a b'],
    ['a user', { wb_user_ids: ['admin'] }, all],
    ['a user who did nothing', { wb_user_ids: ['alice', ''] }, ''],

    ['an op by its reference', { op_names: [OP] }, 'a'],
    ['every version of an op', { op_names: ['weave:///team/project/op/answer:*'] }, 'a b'],
    ['an op by its name', { op_names: ['answer'] }, 'a b d'],
    ['another op whose name begins the same', { op_names: ['answering'] }, 'c'],
    ['a plain name with a colon', { op_names: ['plain:op'] }, 'e'],
    ['every version of a plain name', { op_names: ['plain:*'] }, 'e'],
    ['part of a name', { op_names: ['answ', 'nswer', 'ANSWER', 'answer '] }, ''],
    ['an empty name', { op_names: [''] }, ''],
    ['a star alone', { op_names: ['*', '%', '.*', ':*'] }, ''],
    [
      'a pattern',
      { op_names: ['weave:///%/op/answer:*', 'weave:///.*', 'weave:///team/project/op/answer:v?'] },
      '',
    ],

    ['an input', { input_refs: [OBJECT] }, 'a e'],
    ['every version of an input', { input_refs: ['weave:///team/project/object/set:*'] }, 'a c e'],
    ['part of an input', { input_refs: ['weave:///team/project/object/set', 'set:d1', 'd1', '\n', ''] }, ''],
    ['an output', { output_refs: [OBJECT] }, 'a'],
    ['every version of an output', { output_refs: ['weave:///team/project/object/set:*'] }, 'a b c'],
    ['an output among inputs', { input_refs: [OBJECT2], output_refs: [OBJECT] }, ''],

    ['a run by its bare id', { wb_run_ids: ['run1'] }, 'a b'],
    ['a run of another project', { wb_run_ids: ['other/project/run1'] }, 'c'],

    ['one of several values', { call_ids: ['a', 'd', 'e'], thread_ids: ['th1', 'th2'] }, 'a e'],
    ['all of several keys', { trace_ids: ['a'], turn_ids: ['tu1'], op_names: [OP2] }, 'b'],
    ['keys that exclude one another', { trace_ids: ['a'], call_ids: ['d'] }, ''],
    ['roots of a trace', { trace_ids: ['a'], trace_roots_only: true }, 'a'],
    ['an empty list among others', { trace_ids: ['d'], call_ids: [] }, 'd'],
  ]
  // The endpoints share the code that selects, so each case is asked at the first one and in turn at another.
  const [first, ...others] = Object.entries(ways)
  for (const [index, [name, filter, expected]] of cases.entries())
    for (const [way, ask] of [first!, others[index % others.length]!])
      it(`of ${way} selects by ${name}`, async () =>
        assert.equal((await ask(service, project, filter)).toSorted().join(' '), expected))

  for (const [name, filter, expected] of cases)
    it(`of /calls/query_stats counts by ${name}`, async () => {
      const answer = await service.in(project).calls.count({ filter })
      const count = name === 'empty lists' ? 0 : expected.split(' ').filter((id) => id !== '').length
      assert.deepEqual(accepted(answer), { count, has_more: false, total_storage_size_bytes: null })
    })

  it('by a run’s full name finds it under both', async () =>
    assert.deepEqual(await service.in(project).calls.ids({ filter: { wb_run_ids: [`${project}/run1`] } }), [
      'a',
      'b',
    ]))

  it('with no threads counts nothing, and only there', async () => {
    const { calls } = service.in(project)
    const filter = { thread_ids: [] }
    assert.equal((await calls.count({ filter }).json()).count, 0)
    assert.equal((await calls.ids({ filter })).length, 5)
  })

  const paths = ['/calls/query', '/calls/stream_query', '/calls/query_stats', '/trace/usage']
  for (const key of ['op_names', 'input_refs', 'output_refs', 'parent_ids', 'trace_ids', 'call_ids'])
    it(`has at most 1,000 ${key}`, async () => {
      const values = (count: number) => Array.from({ length: count }, (_, i) => `v${i}`)
      for (const path of paths) {
        const ask = (count: number) =>
          service.post(path, { project_id: project, filter: { [key]: values(count) } })
        assert.match(reasonOf(await ask(1001), 400), new RegExp(`filter.${key}.*1000`))
        accepted(
          await ask(1000).then((answer) =>
            path.includes('stream') ? { ...answer, json: () => ({}) as never } : answer,
          ),
        )
      }
    })

  const long = (count: number, length: number, letter: string) =>
    Array.from({ length: count }, (_, i) => `${i}`.padEnd(length, letter))

  it('may have values that need escapes, however many', async () => {
    const filters = [
      { call_ids: long(1000, 256, '\\') },
      { call_ids: long(1000, 256, "'") },
      { trace_ids: long(1000, 256, '\u0000') },
      { op_names: long(100, 8192, 'é') },
      { thread_ids: long(5000, 100, '\t') },
      { wb_run_ids: long(5000, 100, '\\') },
    ]
    for (const [index, filter] of filters.entries()) {
      const path = index % 2 === 0 ? '/calls/query_stats' : '/trace/usage'
      assert.equal((await service.post(path, { project_id: project, filter })).status, 200)
    }
  })

  it('has values of 4 MiB together at most', async () => {
    const filters = [
      { thread_ids: ['x'.repeat(4_194_305)] },
      { call_ids: ['x'], turn_ids: long(42_000, 100, 'x') },
    ]
    for (const filter of filters)
      for (const path of paths)
        assert.match(reasonOf(await service.post(path, { project_id: project, filter }), 413), /4194304/)
    const call_ids = long(42_000, 100, 'x')
    const usage = { project_id: project, call_ids, limit: 1_000_000 }
    assert.match(reasonOf(await service.post('/calls/usage', usage), 413), /4194304/)
    assert.equal((await service.in(project).calls.usage({ call_ids })).status, 200)
  })

  it('has 100,000 values together at most, however short', async () => {
    for (const filter of [{ thread_ids: Array<string>(100_001).fill('') }])
      for (const path of paths)
        assert.match(reasonOf(await service.post(path, { project_id: project, filter }), 413), /100000/)
    const object_ids = Array<string>(100_001).fill('')
    const objects = { project_id: project, filter: { object_ids } }
    assert.match(reasonOf(await service.post('/objs/query', objects), 413), /100000/)
  })

  it('is strict', async () => {
    for (const path of paths) {
      const ask = (filter: unknown) => service.post(path, { project_id: project, filter })
      for (const filter of [7, 'x', [], true])
        assert.deepEqual(told(await ask(filter)), ['model_attributes_type filter'])
      assert.deepEqual(told(await ask({ unknown: 1 })), ['extra_forbidden filter.unknown'])
      for (const key of LISTS) {
        for (const value of [7, 'x', {}, true])
          assert.deepEqual(told(await ask({ [key]: value })), [`list_type filter.${key}`])
        for (const item of [7, null, {}, ['x']])
          assert.deepEqual(told(await ask({ [key]: ['x', item] })), [`string_type filter.${key}.1`])
      }
      for (const value of [7, 'true', [], {}])
        assert.deepEqual(told(await ask({ trace_roots_only: value })), ['bool_type filter.trace_roots_only'])
    }
  })
})
