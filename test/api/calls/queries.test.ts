import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { itInFull } from '../../counts.js'
import { sharedService, someProject } from '../shared-service.js'
import { anEnd, aStart, endItem, startItem } from '../../support/call-requests.js'
import { accepted, reasonOf, told } from './given.js'

const QUERIES = ['/calls/query', '/calls/stream_query']

describe('the order of calls', () => {
  let service: TestService
  let project: string

  before(async () => {
    service = await sharedService()
    project = someProject()
    const at = (second: number) => `2026-01-01T00:00:0${second}Z`
    await service
      .in(project)
      .calls.batch([
        { start: { id: 'd', started_at: at(1), op_name: 'x', display_name: 'one', wb_run_step: 10 } },
        { start: { id: 'b', started_at: at(2), op_name: 'y', wb_run_step: 9 } },
        { start: { id: 'a', started_at: at(2), op_name: 'x', display_name: 'two' } },
        { start: { id: 'c', started_at: at(0), op_name: 'y', display_name: 'One', wb_run_step: -1 } },
        { end: { id: 'a', ended_at: at(3) } },
        { end: { id: 'b', ended_at: at(3), exception: 'boom' } },
        { end: { id: 'd', ended_at: at(2) } },
      ])
      .json()
  })

  const by = (field: string, direction = 'asc') => ({ field, direction })
  const cases: readonly (readonly [string, unknown, string])[] = [
    ['of start, then id', undefined, 'c d a b'],
    ['of start, then id, where nothing is asked', null, 'c d a b'],
    ['of ids, where no order is asked', [], 'a b c d'],
    ['of ids', [by('id')], 'a b c d'],
    ['of ids backwards', [by('id', 'desc')], 'd c b a'],
    ['of start backwards, ties by id', [by('started_at', 'desc')], 'a b d c'],
    ['of end, without one last', [by('ended_at')], 'd a b c'],
    ['of end backwards, without one last', [by('ended_at', 'desc')], 'a b d c'],
    ['of name, without one last', [by('display_name')], 'c d a b'],
    ['of name backwards, without one last', [by('display_name', 'desc')], 'a d c b'],
    ['of steps as numbers', [by('wb_run_step')], 'c b d a'],
    ['of steps backwards', [by('wb_run_step', 'desc')], 'd b c a'],
    ['of ops, then start', [by('op_name'), by('started_at')], 'd a c b'],
    ['of ops, then ids backwards', [by('op_name'), by('id', 'desc')], 'd a c b'],
    ['of what is the same for all, ties by id', [by('project_id', 'desc')], 'a b c d'],
    ['of the first time a field is named', [by('id', 'desc'), by('id', 'asc'), by('id', 'desc')], 'd c b a'],
    ['named twenty thousand times', Array(20_000).fill(by('started_at', 'desc')), 'a b d c'],
  ]
  for (const [name, sort_by, expected] of cases)
    it(`may be that ${name}`, async () => {
      const ids = await service.in(project).calls.ids({ ...(sort_by === undefined ? {} : { sort_by }) })
      assert.equal(ids.join(' '), expected)
    })

  for (const field of [
    'parent_id',
    'thread_id',
    'turn_id',
    'trace_id',
    'exception',
    'wb_user_id',
    'wb_run_id',
    'wb_run_step_end',
  ])
    it(`may be that of ${field}`, async () => {
      for (const direction of ['asc', 'desc'])
        assert.equal((await service.in(project).calls.ids({ sort_by: [by(field, direction)] })).length, 4)
    })

  it('is not that of a field nobody knows, which is not quoted', async () => {
    const odd = [
      'CANARY',
      'id; DROP TABLE calls',
      'id ASC, (SELECT 1)',
      'ID',
      ' id',
      '__proto__',
      'constructor',
      'renamed',
      'started_position',
      '\u0000',
      'x'.repeat(1e6),
    ]
    for (const path of QUERIES)
      for (const field of odd) {
        const answer = await service.post(path, { project_id: project, sort_by: [by('id'), by(field)] })
        assert.match(reasonOf(answer, 403), /sort_by\.1\.field/)
        assert.ok(!answer.text.includes('CANARY') && answer.text.length < 1000)
      }
  })

  it('names a field of at most 32 parts, and at most 32 different ones', async () => {
    const parts = (count: number) => ['inputs', ...Array<string>(count - 1).fill('a')].join('.')
    const { calls } = service.in(project)
    const deep = (count: number) => calls.query({ sort_by: [by(parts(count))] })
    assert.equal((await deep(32)).status, 200)
    assert.deepEqual(told(await deep(33)), ['too_long sort_by.0.field'])
    assert.deepEqual(told(await deep(500_000)), ['too_long sort_by.0.field'])
    const many = (count: number) =>
      calls.query({ sort_by: Array.from({ length: count }, (_, i) => by(`inputs.${i}`)) })
    assert.equal((await many(32)).status, 200)
    assert.deepEqual(told(await many(33)), ['too_long sort_by'])
  })

  itInFull('names at most 256 parts of fields', async () => {
    const { calls } = service.in(project)
    const manyDeep = (count: number) =>
      calls.query({ sort_by: Array.from({ length: count }, (_, i) => by(`inputs${`.${i}`.repeat(31)}`)) })
    assert.equal((await manyDeep(8)).status, 200)
    assert.deepEqual(told(await manyDeep(9)), ['too_long sort_by'])
  })

  it('is asked strictly', async () => {
    for (const [sort_by, problem] of [
      ['id', 'list_type sort_by'],
      [{}, 'list_type sort_by'],
      [['id'], 'model_attributes_type sort_by.0'],
      [[{}], 'missing sort_by.0.field'],
      [[{ field: 'id' }], 'missing sort_by.0.direction'],
      [[by('id', 'ASC')], 'literal_error sort_by.0.direction'],
      [[by('id', 'asc; --')], 'literal_error sort_by.0.direction'],
      [[{ ...by('id'), more: 1 }], 'extra_forbidden sort_by.0.more'],
      [[by('id'), { field: 7, direction: 'asc' }], 'string_type sort_by.1.field'],
    ] as const)
      assert.equal(told(await service.in(project).calls.query({ sort_by }))[0], problem)
  })

  const pages: readonly (readonly [object, string])[] = [
    [{ limit: 2 }, 'c d'],
    [{ limit: 2, offset: 1 }, 'd a'],
    [{ offset: 3 }, 'b'],
    [{ offset: 4 }, ''],
    [{ limit: 0 }, ''],
    [{ limit: 0, offset: 0 }, ''],
    [{ limit: 10_000_000 }, 'c d a b'],
    [{ limit: Number.MAX_SAFE_INTEGER, offset: 0 }, 'c d a b'],
    [{ offset: Number.MAX_SAFE_INTEGER }, ''],
    [{ limit: Number.MAX_SAFE_INTEGER, offset: Number.MAX_SAFE_INTEGER }, ''],
    [{ limit: null, offset: null }, 'c d a b'],
    [{ limit: 1.0, offset: -0 }, 'c'],
  ]
  for (const [page, expected] of pages)
    it(`is answered from ${JSON.stringify(page)}`, async () =>
      assert.equal((await service.in(project).calls.ids(page)).join(' '), expected))

  it('is counted up to a limit', async () => {
    for (const [limit, count, has_more] of [
      [null, 4, false],
      [4, 4, false],
      [3, 3, true],
      [0, 0, true],
      [10, 4, false],
    ] as const) {
      const answer = await service.in(project).calls.count({ limit }).json()
      assert.deepEqual([answer['count'], answer['has_more']], [count, has_more])
    }
  })

  it('has whole numbers for limit and offset', async () => {
    const wrong: readonly (readonly [unknown, string])[] = [
      [-1, 'greater_than_equal'],
      [1.5, 'int_type'],
      ['10', 'int_type'],
      [1e30, 'int_type'],
      [9007199254740992, 'less_than_equal'],
      [true, 'int_type'],
      [[], 'int_type'],
    ]
    for (const [value, type] of wrong) {
      for (const path of [...QUERIES, '/calls/query_stats'])
        assert.deepEqual(told(await service.post(path, { project_id: project, limit: value })), [
          `${type} limit`,
        ])
      for (const path of QUERIES)
        assert.deepEqual(told(await service.post(path, { project_id: project, offset: value })), [
          `${type} offset`,
        ])
      for (const body of [{}, { call_ids: [] }]) {
        const path = 'call_ids' in body ? '/calls/usage' : '/trace/usage'
        assert.deepEqual(told(await service.post(path, { project_id: project, ...body, limit: value })), [
          `${type} limit`,
        ])
      }
    }
    for (const path of ['/trace/usage', '/calls/usage']) {
      const body = { project_id: project, ...(path === '/calls/usage' ? { call_ids: [] } : {}) }
      assert.deepEqual(told(await service.post(path, { ...body, limit: 0 })), ['greater_than_equal limit'])
      assert.deepEqual(told(await service.post(path, { ...body, limit: null })), ['int_type limit'])
    }
  })
})

describe('the columns of calls', () => {
  let service: TestService
  let project: string
  const payload = { a: 1 }

  before(async () => {
    service = await sharedService()
    project = someProject()
    const start = aStart(project, {
      id: 'c',
      display_name: 'n',
      parent_id: 'p',
      inputs: payload,
      attributes: payload,
      otel_dump: payload,
    })
    const end = anEnd(project, 'c', {
      output: payload,
      exception: 'boom',
      summary: { own: 1, weave: { mine: 2, status: 'mine' } },
    })
    accepted(await service.post('/call/upsert_batch', { batch: [startItem(start), endItem(end)] }))
  })

  const columnsOf = async (columns: unknown) => {
    const answer = await service.in(project).calls.query({ columns })
    return JSON.parse(answer.text).calls[0]
  }

  const weave = { mine: 2, status: 'error', latency_ms: 1000, display_name: 'n' }
  const ALWAYS = ['id', 'op_name', 'project_id', 'started_at', 'trace_id']
  const DICTIONARIES = new Set(['attributes', 'inputs', 'summary'])

  it('are all of them, where none are asked', async () => {
    const call = await service.in(project).calls.read('c')
    for (const columns of [null, [], undefined]) assert.deepEqual(await columnsOf(columns), call)
    assert.deepEqual(call, {
      id: 'c',
      project_id: project,
      op_name: 'answer',
      display_name: 'n',
      trace_id: 'c',
      parent_id: 'p',
      thread_id: null,
      turn_id: null,
      started_at: '2026-01-01T00:00:00.000000Z',
      attributes: payload,
      inputs: payload,
      ended_at: '2026-01-01T00:00:01.000000Z',
      exception: 'boom',
      output: payload,
      summary: { own: 1, weave },
      otel_dump: payload,
      wb_user_id: 'admin',
      wb_run_id: null,
      wb_run_step: null,
      wb_run_step_end: null,
      deleted_at: null,
    })
  })

  const cases: readonly (readonly [readonly string[], readonly string[]])[] = [
    [['id'], []],
    [['inputs'], ['inputs']],
    [
      ['inputs.a.b', 'output.x'],
      ['inputs', 'output'],
    ],
    [['inputs_dump'], ['inputs']],
    [['otel_dump'], ['otel_dump']],
    [['summary'], ['summary', 'ended_at', 'exception', 'display_name']],
    [['summary.weave.status'], ['summary', 'ended_at', 'exception', 'display_name']],
    [
      ['parent_id', 'wb_user_id'],
      ['parent_id', 'wb_user_id'],
    ],
    [['unknown', '__proto__', 'constructor', '*', "'"], []],
  ]
  for (const [columns, expected] of cases)
    it(`are those asked and those always there: ${columns.join()}`, async () => {
      const whole = await service.in(project).calls.read('c')
      const call = await columnsOf(columns)
      assert.deepEqual(Object.keys(call), Object.keys(whole))
      for (const [column, value] of Object.entries(call)) {
        const wanted = ALWAYS.includes(column) || expected.includes(column)
        assert.deepEqual(value, wanted ? whole[column] : DICTIONARIES.has(column) ? {} : null, column)
      }
    })

  it('are asked strictly', async () => {
    for (const [columns, problem] of [
      ['id', 'list_type columns'],
      [[7], 'string_type columns.0'],
      [['id', null], 'string_type columns.1'],
    ] as const)
      assert.deepEqual(told(await service.in(project).calls.query({ columns })), [problem])
  })
})

describe('an option that is not served yet', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  for (const path of QUERIES)
    it(`is named by ${path}, and may be left out`, async () => {
      const project_id = someProject()
      const ask = (latest_only: unknown) => service.post(path, { project_id, latest_only })
      assert.deepEqual(told(await ask(true)), ['value_error latest_only'])
      assert.equal((await ask(false)).status, 200)
      assert.deepEqual(told(await ask('true')), ['bool_type latest_only'])
    })
})

describe('a read of one call', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  it('is null for any id that is not there', async () => {
    const project_id = someProject()
    for (const id of ['', 'x', '\u0000', "' OR 1=1", '*', 'x'.repeat(1e6), '\ud800'])
      assert.deepEqual(accepted(await service.post('/call/read', { project_id, id })), { call: null })
  })

  it('is strict', async () => {
    assert.deepEqual(told(await service.post('/call/read', {})), ['missing project_id', 'missing id'])
    for (const id of [7, null, [], {}])
      assert.deepEqual(told(await service.post('/call/read', { project_id: 'a/b', id })), ['string_type id'])
    assert.deepEqual(told(await service.post('/call/read', { project_id: 'a/b', id: 'c', columns: [] })), [
      'extra_forbidden columns',
    ])
  })
})
