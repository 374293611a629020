import assert from 'node:assert/strict'
import fc from 'fast-check'
import { sha256 } from '../../../src/adapters/system/system.js'
import type { JsonObject } from '../../../src/domain/json/json.js'
import { digestedRow, tableDigest } from '../../../src/domain/table/digests.js'
import type { TestService } from '../../support/service.js'
import { ADMINISTRATOR_KEY, startTestService } from '../../support/service.js'
import { aCompleted, anEnd, aStart, endItem, startItem } from '../tracing/given.js'
import { endpointsOf } from './endpoints.js'

const project_id = 'default/fuzzed'
const filter = { op_names: ['a'], call_ids: ['c'], trace_roots_only: true, thread_ids: ['t'] }
const query = {
  project_id,
  filter,
  limit: 1,
  offset: 0,
  sort_by: [{ field: 'id', direction: 'asc' }],
  columns: ['id'],
}

const FILE = { content: 'content', digest: '7XACtDnprIRfIjV9giusFERzD722AW0XyUMil7nsn3M' }
const feedback = {
  project_id,
  weave_ref: `weave:///${project_id}/call/c`,
  feedback_type: 'wandb.runnable.s',
  payload: { output: 1 },
  runnable_ref: `weave:///${project_id}/op/s:d`,
  call_ref: `weave:///${project_id}/call/d`,
  scorer_tags: ['t'],
  scorer_ratings: { r: 1 },
}

const note = {
  project_id,
  weave_ref: feedback.weave_ref,
  feedback_type: 'wandb.note.1',
  payload: { note: 'n' },
}

const field = { $getField: 'payload.a.0' }

const $expr = {
  $or: [
    {
      $and: [
        { $eq: [field, { $literal: 1 }] },
        { $not: [{ $gt: [{ $getField: 'created_at' }, { $literal: 0 }] }] },
      ],
    },
    { $in: [{ $convert: { input: field, to: 'double' } }, [{ $literal: 'a' }, { $literal: null }]] },
    { $contains: { input: field, substr: { $literal: 'a' }, case_insensitive: true } },
    { $containsToken: { input: { $getField: 'creator' }, substr: { $literal: 'a' } } },
  ],
}

const ROWS: readonly JsonObject[] = [{ a: 1 }, { b: [null] }]
const TABLE = tableDigest(
  sha256,
  ROWS.map((row) => digestedRow(sha256, row).digest),
)
const tableQuery = {
  project_id,
  digest: TABLE,
  filter: { row_digests: ['r'] },
  limit: 1,
  offset: 0,
  sort_by: [{ field: 'a.b', direction: 'asc' }],
}

/** A valid body of each endpoint that takes JSON, to be spoilt. */
const BODIES: Readonly<Record<string, unknown>> = {
  '/call/start': { start: aStart(project_id, { id: 'c', wb_run_step: 1, otel_dump: {}, parent_id: 'p' }) },
  '/call/end': { end: anEnd(project_id, 'c', { output: [], summary: { usage: { m: { requests: 1 } } } }) },
  '/v2/{entity}/{project}/call/start': { start: aStart(project_id) },
  '/v2/{entity}/{project}/call/end': { end: anEnd(project_id, 'd') },
  '/call/upsert_batch': {
    batch: [startItem(aStart(project_id, { id: 'c' })), endItem(anEnd(project_id, 'c'))],
  },
  '/v2/{entity}/{project}/calls/complete': { batch: [aCompleted(project_id)] },
  '/call/update': { project_id, call_id: 'c', display_name: 'n' },
  '/calls/delete': { project_id, call_ids: ['c'] },
  '/call/read': { project_id, id: 'c', include_costs: false },
  '/calls/query': query,
  '/calls/stream_query': query,
  '/calls/query_stats': { project_id, filter, limit: 1 },
  '/trace/usage': { project_id, filter, limit: 1, include_costs: false },
  '/calls/usage': { project_id, call_ids: ['c'], limit: 1 },
  '/obj/create': {
    obj: {
      project_id,
      object_id: 'o',
      val: { _class_name: 'C', _bases: ['Object'], weave_type: { type: 'Op' } },
    },
  },
  '/file/content': { project_id, digest: FILE.digest },
  '/files/content': { project_id, digest: FILE.digest },
  '/feedback/create': { ...note, id: 'f' },
  '/feedback/batch/create': { batch: [feedback, feedback] },
  '/feedback/query': {
    project_id,
    fields: ['id', 'payload.a.0'],
    query: { $expr },
    sort_by: [{ field: 'payload.a', direction: 'desc' }],
    limit: 1,
    offset: 0,
  },
  '/feedback/purge': {
    project_id,
    query: { $expr: { $or: [{ $in: [{ $getField: 'id' }, [{ $literal: 'f' }]] }] } },
  },
  '/table/create': { table: { project_id, rows: ROWS } },
  '/table/create_from_digests': { project_id, row_digests: [] },
  '/table/update': {
    project_id,
    base_digest: TABLE,
    updates: [{ append: { row: {} } }, { pop: { index: 0 } }],
  },
  '/table/query': tableQuery,
  '/table/query_stream': tableQuery,
  '/table/query_stats': { project_id, digest: TABLE },
  '/table/query_stats_batch': { project_id, digests: [TABLE], include_storage_size: true },
  '/feedback/replace': { ...note, feedback_id: 'f', creator: 'c' },
  '/api/projects/{entity}/{project}': { usage_reporting: 'own' },
  '/refs/read_batch': { refs: ['weave:///team/project/object/o:latest/attr/a'] },
  '/graphql': {
    query: 'query Q($n: String) { project(name: $n) { id } }',
    variables: { n: 'p' },
    operationName: 'Q',
  },
  '/api/teams': { name: 'fuzzed' },
  '/api/teams/{team}/members': { user: 'fuzzed', roles: ['member'] },
  '/api/users/me/api-keys': { name: 'n' },
}

const odd = fc.oneof(
  fc.constantFrom<unknown>(
    ...[
      null,
      true,
      0,
      -1,
      1.5,
      1e30,
      -0,
      2 ** 53,
      '',
      ' ',
      '\u0000',
      '\ud800',
      "'",
      '*',
      'x'.repeat(2000),
      [],
      {},
      [[]],
      [null],
      [{}],
    ],
    ...['2026-01-01', '0001-01-01T00:00:00Z', 'a/b', 'default/fuzzed', 'constructor', '__proto__'],
  ),
  fc.jsonValue({ maxDepth: 3, noUnicodeString: false }),
)

type Path = readonly (string | number)[]

/** Every place in a value. */
const placesIn = (value: unknown, at: Path = []): readonly Path[] => [
  at,
  ...(typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, member]) =>
        placesIn(member, [...at, Array.isArray(value) ? Number(key) : key]),
      )
    : []),
]

const replaced = (value: unknown, [first, ...rest]: Path, other: unknown): unknown => {
  if (first === undefined) return other
  const copy: Record<string | number, unknown> = Array.isArray(value)
    ? ([...value] as never)
    : { ...(value as object) }
  copy[first] = replaced(copy[first], rest, other)
  if (copy[first] === undefined) Reflect.deleteProperty(copy, first)
  return copy
}

const spoilt = (body: unknown): fc.Arbitrary<unknown> => {
  const places = placesIn(body)
  const change = fc.tuple(fc.constantFrom(...places), fc.option(odd, { nil: undefined, freq: 4 }))
  const addition = fc.tuple(
    fc.constantFrom(...places),
    fc.constantFrom('more', '__proto__', 'id', 'batch', ''),
    odd,
  )
  return fc
    .tuple(fc.array(change, { minLength: 1, maxLength: 3 }), fc.option(addition))
    .map(([changes, more]) => {
      const changed = changes.reduce(
        (value, [place, other]) => (existsIn(value, place) ? replaced(value, place, other) : value),
        body,
      )
      return more !== null && isObjectAt(changed, more[0])
        ? replaced(changed, [...more[0], more[1]], more[2])
        : changed
    })
}

const at = (value: unknown, path: Path): unknown =>
  path.reduce(
    (inner, key) => (inner as Readonly<Record<string | number, unknown>> | null | undefined)?.[key],
    value,
  )

const existsIn = (value: unknown, path: Path): boolean =>
  path.length === 0 || isObjectAt(value, path.slice(0, -1))

const isObjectAt = (value: unknown, path: Path): boolean => {
  const found = at(value, path)
  return typeof found === 'object' && found !== null
}

describe('a body that is spoilt in any way', () => {
  let service: TestService
  before(async () => {
    service = await startTestService()
    const form = new FormData()
    form.append('project_id', project_id)
    form.append('file', new Blob([FILE.content]))
    const headers = { authorization: `Bearer ${ADMINISTRATOR_KEY}` }
    const stored = await fetch(`${service.address}/file/create`, { method: 'POST', headers, body: form })
    assert.deepEqual(await stored.json(), { digest: FILE.digest })
  })
  after(() => service.stop())

  it('is known of every endpoint', async () => {
    const endpoints = await endpointsOf(service)
    for (const { template, takesJson } of endpoints)
      assert.equal(template in BODIES || !takesJson, true, template)
  })

  for (const [template, body] of Object.entries(BODIES))
    it(`is answered or refused, never a fault of the service: ${template}`, async () => {
      const [endpoint] = (await endpointsOf(service, project_id)).filter(
        (one) => one.template === template && one.takesJson,
      )
      assert.equal((await service.send(endpoint!.method, endpoint!.path, body)).status, 200)
      await fc.assert(
        fc.asyncProperty(spoilt(body), async (value) => {
          const answer = await service.send(
            endpoint!.method,
            endpoint!.path,
            value === undefined ? '' : JSON.stringify(value),
          )
          assert.ok([200, 400, 403, 404, 409, 413, 422].includes(answer.status), `${answer.status}`)
          if (answer.status === 422) assert.deepEqual(Object.keys(answer.json()), ['detail'])
          else if (answer.status !== 200) assert.ok('reason' in answer.json())
        }),
        { numRuns: 40 },
      )
      assert.deepEqual(
        service.logged.filter(({ event }) => event !== 'access.bootstrap'),
        [],
      )
    })
})
