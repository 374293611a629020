import assert from 'node:assert/strict'
import { printFieldPath } from '../../../src/domain/query/field-path.js'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { createTable, rowsOf } from '../tables/given.js'
import { accepted, told } from './given.js'

const NESTED = { user: { id: 'u1' }, region: 'eu' }
const DOTTED = { 'user.id': 'u2', region: 'eu' }
const BOTH = { 'user.id': 'u2', user: { id: 'u3' } }
const OTHER_KEYS = [
  'a[0]',
  '"quoted"',
  'it\'s "x"',
  'back\\slash',
  'a.b\\',
  'end\\',
  '[x].y',
  '漢.字',
  ' . ',
  '0.5',
  'a..b',
  '.a',
]

const usage = { 'gpt-4.1': { prompt_tokens: 7, completion_tokens: 2, requests: 1 } }
const equals = ($getField: string, $literal: unknown) => ({ $expr: { $eq: [{ $getField }, { $literal }] } })

describe('a field path', () => {
  let service: TestService
  let project: string

  before(async () => {
    service = await sharedService()
    project = someProject()
    const { calls, feedback } = service.in(project)
    const at = (second: number) => `2026-01-01T00:00:0${second}Z`
    const call = (id: string, second: number, more: object) => ({
      id,
      trace_id: id,
      op_name: 'answer',
      started_at: at(second),
      ended_at: at(second + 1),
      ...more,
    })
    accepted(
      await calls.complete([
        call('nested', 0, { attributes: NESTED, inputs: { config: { 'model.name': 'small' } } }),
        call('dotted', 1, {
          attributes: DOTTED,
          inputs: { 'config.model': { name: 'small' } },
          summary: { usage },
        }),
        call('both', 2, { attributes: BOTH, inputs: { 'config.model.name': 'large' } }),
        call('keys', 3, {
          inputs: Object.fromEntries(OTHER_KEYS.map((key, at) => [key, { [key]: at + 1 }])),
          output: { list: [{ 'x.y': 1 }, { x: { y: 2 } }] },
        }),
      ]),
    )
    await feedback
      .create({
        weave_ref: `weave:///${project}/call/nested`,
        feedback_type: 'note',
        payload: { 'a.b': { c: 1 } },
      })
      .json()
  })

  for (const [name, value, ...ids] of [
    ['attributes.user.id', 'u1', 'nested'],
    ['attributes.user.id', 'u2', 'dotted'],
    ['attributes.user.id', 'u3', 'both'],
    ['attributes.user\\.id', 'u2', 'dotted', 'both'],
    ['attributes_dump.user.id', 'u2', 'dotted'],
    ['inputs.config.model.name', 'small', 'nested', 'dotted'],
    ['inputs.config.model.name', 'large', 'both'],
    ['summary.usage.gpt-4.1.prompt_tokens', 7, 'dotted'],
    ['summary.usage.gpt-4\\.1.prompt_tokens', 7, 'dotted'],
    ['output.list.0.x.y', 1, 'keys'],
    ['output.list.1.x.y', 2, 'keys'],
    ['feedback.[note].payload.a.b.c', 1, 'nested'],
  ] as const)
    it(`selects, counts and usage-queries calls by ${name} = ${value}`, async () => {
      const query = equals(name, value)
      const { calls, usage } = service.in(project)
      assert.deepEqual(await calls.ids({ query }), ids)
      assert.equal((await calls.count({ query }).json()).count, ids.length)
      const among = {
        $expr: { $in: [{ $getField: name }, [{ $literal: value }, { $literal: 'x' }, { $literal: 99 }]] },
      }
      assert.deepEqual(await calls.ids({ query: among }), ids)
      const { totals } = await usage.query({ query }).json()
      assert.equal(totals.usage.calls, ids.filter((id) => id === 'dotted').length)
    })

  it('finds keys of any characters when it is escaped', async () => {
    const { calls } = service.in(project)
    for (const [at, key] of OTHER_KEYS.entries()) {
      const path = printFieldPath(['inputs', key, key])
      assert.deepEqual(await calls.ids({ query: equals(path, at + 1) }), ['keys'], path)
      const [first] = await calls.ids({ sort_by: [{ field: path, direction: 'asc' }] })
      assert.equal(first, 'keys', path)
    }
  })

  it('sorts calls by keys with dots', async () => {
    const sorted = (direction: string) =>
      service.in(project).calls.ids({ sort_by: [{ field: 'attributes.user.id', direction }] })
    assert.deepEqual(await sorted('asc'), ['nested', 'dotted', 'both', 'keys'])
    assert.deepEqual(await sorted('desc'), ['both', 'dotted', 'nested', 'keys'])
  })

  it('groups usage by keys with dots', async () => {
    const group_by = ['attributes.user.id']
    const { rows } = await service.in(project).usage.query({ group_by }).json()
    assert.deepEqual(
      rows.map(({ group }: { group: object }) => group),
      [{ 'attributes.user.id': 'u2' }],
    )
  })

  it('picks and finds members of feedback', async () => {
    const { feedback } = service.in(project)
    const fields = ['payload.a.b.c', 'payload.a\\.b', 'payload.a.b']
    const { result } = await feedback.query({ fields, query: equals('payload.a.b.c', 1) }).json()
    assert.deepEqual(result, [{ 'payload.a.b.c': 1, 'payload.a\\.b': { c: 1 }, 'payload.a.b': { c: 1 } }])
  })

  it('sorts rows of tables by keys with dots and by items', async () => {
    const { digest } = await createTable(service, project, [
      { 'a.b': { c: 3 }, list: [{ 'x.y': 1 }] },
      { a: { 'b.c': 1 }, list: [{ 'x.y': 3 }] },
      { a: { b: { c: 2 } }, list: [{ x: { y: 2 } }] },
    ])
    const sorted = async (field: string) =>
      (await rowsOf(service, project, digest, { sort_by: [{ field, direction: 'asc' }] })).map(
        ({ original_index }) => original_index,
      )
    assert.deepEqual(await sorted('a.b.c'), [1, 2, 0])
    assert.deepEqual(await sorted('list.0.x.y'), [0, 2, 1])
  })

  it('selects the root of an escaped column', async () => {
    const [call] = (
      await service
        .in(project)
        .calls.query({ columns: ['attributes.user\\.id'] })
        .json()
    ).calls
    assert.deepEqual([call!['attributes'], call!['inputs']], [NESTED, {}])
  })

  const MALFORMED = ['', '.', 'inputs.', '.inputs', 'inputs..x', 'inputs.x\\']
  const sort = (field: string) => ({ sort_by: [{ field, direction: 'asc' }] })
  for (const [path, body, place] of [
    ['/calls/query', sort, 'sort_by.0.field'],
    ['/calls/stream_query', sort, 'sort_by.0.field'],
    ['/calls/query', (field: string) => ({ columns: ['id', field] }), 'columns.1'],
    ['/calls/query', (field: string) => ({ expand_columns: [field] }), 'expand_columns.0'],
    ['/calls/query_stats', (field: string) => ({ expand_columns: [field] }), 'expand_columns.0'],
    ['/feedback/query', sort, 'sort_by.0.field'],
    ['/feedback/query', (field: string) => ({ fields: [field] }), 'fields.0'],
    ['/feedback/query', (field: string) => ({ query: equals(field, 1) }), 'query.$expr.$eq.0.$getField'],
    ['/cost/query', sort, 'sort_by.0.field'],
    ['/table/query', (field: string) => ({ digest: 'd', ...sort(field) }), 'sort_by.0.field'],
    ['/usage/query', (field: string) => ({ group_by: [field] }), 'group_by.0'],
  ] as const)
    it(`is a 422 at ${place} of ${path} if it is malformed`, async () => {
      for (const field of MALFORMED) {
        const answer = await service.post(path, { project_id: project, ...body(field) })
        assert.deepEqual(told(answer), [`value_error ${place}`])
        assert.ok(answer.text.includes(JSON.stringify(`'${field}'`).slice(1, -1)), answer.text)
      }
    })
})
