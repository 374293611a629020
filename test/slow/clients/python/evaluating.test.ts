import assert from 'node:assert/strict'
import { ADMINISTRATOR_KEY, startTestService, type TestService } from '../../../support/service.js'
import type { Json, JsonObject } from '../../../../src/domain/json/json.js'
import { anObject, pythonClient, type PythonClient } from './python-client.js'

const PROJECT = 'team/python-evaluates'
const ROWS = Array.from({ length: 10 }, (_, n) => ({ n, text: `row ${n % 7}` }))
const DIGEST = /^[A-Za-z0-9]{43}$/

interface Table extends JsonObject {
  readonly digest: string
  readonly row_digests: readonly string[]
}

/** The requests of the Python SDK as they were read in its sources; the SDK itself is not run here. */
describe('the requests of the Python SDK when it evaluates', () => {
  let service: TestService
  let python: PythonClient
  before(async () => {
    service = await startTestService()
    python = pythonClient(service.address, ADMINISTRATOR_KEY)
  })
  after(() => service.stop())

  const create = (rows: readonly JsonObject[]) =>
    python.post<Table>('/table/create', { table: { project_id: PROJECT, rows, expected_digest: null } })
  const rowsOf = async (digest: string, more: JsonObject = {}) =>
    (
      await python.post<{ rows: readonly { digest: string; val: JsonObject; original_index: number }[] }>(
        '/table/query',
        { project_id: PROJECT, digest, filter: null, limit: null, offset: null, sort_by: null, ...more },
      )
    ).rows
  const publish = async (object_id: string, val: JsonObject) =>
    (await python.post<{ digest: string }>('/obj/create', anObject(PROJECT, object_id, val))).digest
  const read = async (object_id: string, digest: string, metadata_only = false) =>
    (
      await python.post<{ obj: JsonObject }>('/obj/read', {
        project_id: PROJECT,
        object_id,
        digest,
        metadata_only,
        include_tags_and_aliases: false,
      })
    ).obj

  it('save a table whole', async () => {
    const { digest, row_digests } = await create(ROWS)
    assert.match(digest, DIGEST)
    const rows = await rowsOf(digest)
    assert.deepEqual(
      rows.map(({ val, digest: row, original_index }) => [val, row, original_index]),
      ROWS.map((row, index) => [row, row_digests[index], index]),
    )
    const stats = await python.post('/table/query_stats', { project_id: PROJECT, digest })
    assert.deepEqual(stats, { count: 10 })
    const two = await rowsOf(digest, { filter: { row_digests: [row_digests[3]!, row_digests[9]!] } })
    assert.deepEqual(
      two.map(({ val }) => val),
      [ROWS[3], ROWS[9]],
    )
    const filtered = await rowsOf(digest, { limit: 2, offset: 4 })
    assert.deepEqual(
      filtered.map(({ val }) => val),
      ROWS.slice(4, 6),
    )
  })

  it('save a large table in chunks that are put together by digests', async () => {
    const whole = await create(ROWS)
    const probe = { project_id: PROJECT, row_digests: [], expected_digest: null }
    assert.match((await python.post<Table>('/table/create_from_digests', probe)).digest, DIGEST)
    const chunks = await Promise.all([ROWS.slice(0, 4), ROWS.slice(4, 8), ROWS.slice(8)].map(create))
    const row_digests = chunks.flatMap((chunk) => chunk.row_digests)
    const { digest } = await python.post<Table>('/table/create_from_digests', {
      project_id: PROJECT,
      row_digests,
      expected_digest: null,
    })
    assert.equal(digest, whole.digest)
    assert.deepEqual(
      (await rowsOf(digest)).map(({ val }) => val),
      ROWS,
    )
  })

  it('fall back to updates of a table', async () => {
    const base = await create(ROWS.slice(0, 4))
    const updated = await python.post<{ digest: string; updated_row_digests: readonly string[] }>(
      '/table/update',
      {
        project_id: PROJECT,
        base_digest: base.digest,
        updates: ROWS.slice(4).map((row) => ({ append: { row } })),
      },
    )
    const whole = await create(ROWS)
    assert.equal(updated.digest, whole.digest)
    assert.deepEqual(updated.updated_row_digests, whole.row_digests.slice(4))
  })

  it('publish a dataset, a model and an evaluation, and read what they are', async () => {
    const { digest: table } = await create(ROWS)
    const bases = { _bases: ['Object', 'BaseModel'], description: null, ref: null }
    const dataset = await publish('rows', {
      _type: 'Dataset',
      _class_name: 'Dataset',
      ...bases,
      name: 'rows',
      rows: `weave:///${PROJECT}/table/${table}`,
    })
    const model = await publish('MyModel', {
      _type: 'MyModel',
      _class_name: 'MyModel',
      name: null,
      description: null,
      _bases: ['Model', 'Object', 'BaseModel'],
    })
    assert.equal(await publish('rows', (await read('rows', 'latest'))['val'] as JsonObject), dataset)

    const { val, ...metadata } = await read('MyModel', model, true)
    assert.deepEqual(
      [metadata['base_object_class'], metadata['kind'], metadata['version_index']],
      ['Model', 'object', 0],
    )
    assert.equal(metadata['leaf_object_class'], 'MyModel')
    assert.equal(typeof metadata['created_at'], 'string')
    assert.deepEqual(val, {})
    assert.deepEqual((await read('MyModel', 'v0'))['digest'], model)

    const ref = `weave:///${PROJECT}/object/rows:${dataset}`
    const [, row] = (await create(ROWS)).row_digests
    const { vals } = await python.post<{ vals: readonly Json[] }>('/refs/read_batch', {
      refs: [`${ref}/attr/rows/id/${row}`, `${ref}/attr/name`, `${ref}/attr/unknown`, `${ref}/attr/rows`],
    })
    assert.deepEqual(vals, [ROWS[1], 'rows', null, `weave:///${PROJECT}/table/${table}`])
    const { objs } = await python.post<{ objs: readonly JsonObject[] }>('/objs/query', {
      project_id: PROJECT,
      filter: {
        base_object_classes: ['Model'],
        exclude_base_object_classes: null,
        leaf_object_classes: null,
        object_ids: null,
        is_op: null,
        latest_only: true,
        tags: null,
        aliases: null,
      },
      limit: null,
      offset: null,
      sort_by: null,
      metadata_only: false,
      include_storage_size: false,
      include_tags_and_aliases: false,
    })
    assert.deepEqual(
      objs.map(({ object_id, digest, is_latest }) => [object_id, digest, is_latest]),
      [['MyModel', model, 1]],
    )
    const deleted = await python.post('/obj/delete', {
      project_id: PROJECT,
      object_id: 'MyModel',
      digests: null,
    })
    assert.equal(deleted['num_deleted'], 1)
  })

  it('give feedback in batches that may be repeated, and take it back', async () => {
    const weave_ref = `weave:///${PROJECT}/call/one`
    const given = (id: string | null, output: Json) => ({
      ...NEWEST_FEEDBACK,
      id,
      weave_ref,
      payload: { output },
    })
    const ids = ['018f1f2a-9c2b-7d3e-b5a1-8c9d2e4f6a7b', '018f1f2a-9c2b-7d3e-b5a1-8c9d2e4f6a7c']
    const batch = ids.map((id, index) => given(id, { score: index }))
    for (let times = 0; times < 2; times += 1) {
      const { res } = await python.post<{ res: readonly JsonObject[] }>('/feedback/batch/create', { batch })
      assert.deepEqual(
        res.map(({ id, wb_user_id }) => [id, wb_user_id]),
        ids.map((id) => [id, 'admin']),
      )
      for (const { created_at, payload } of res)
        assert.deepEqual([typeof created_at, typeof payload], ['string', 'object'])
    }
    const { id: third } = await python.post('/feedback/create', given(null, true))
    const asked = (query: JsonObject | null) => ({
      project_id: PROJECT,
      fields: null,
      query,
      sort_by: null,
      limit: null,
      offset: null,
    })
    const found = await python.post<{ result: readonly JsonObject[]; total_count: number }>(
      '/feedback/query',
      asked({ $expr: { $eq: [{ $getField: 'weave_ref' }, { $literal: weave_ref }] } }),
    )
    assert.deepEqual(found.result.map(({ id }) => id).sort(), [...ids, third].sort())
    assert.equal(found.total_count, 3)
    const one = { $expr: { $eq: [{ $getField: 'id' }, { $literal: ids[0]! }] } }
    assert.deepEqual(await python.post('/feedback/purge', { project_id: PROJECT, query: one }), {})
    assert.equal((await python.post('/feedback/query', asked(null)))['total_count'], 2)
  })
})

/** What a scorer of the newest clients sends beside its score: every key, most of them empty. */
const NEWEST_FEEDBACK: JsonObject = {
  project_id: PROJECT,
  creator: null,
  feedback_type: 'wandb.runnable.accuracy',
  annotation_ref: null,
  runnable_ref: `weave:///${PROJECT}/op/accuracy:${'a'.repeat(43)}`,
  call_ref: `weave:///${PROJECT}/call/two`,
  trigger_ref: null,
  queue_id: null,
  scorer_tags: [],
  scorer_tag_reasons: {},
  scorer_tag_confidences: {},
  scorer_ratings: {},
  scorer_rating_reasons: {},
  scorer_rating_confidences: {},
  span_agent_name: '',
  span_agent_version: '',
  span_status_code: 'UNSET',
  span_conversation_id: '',
  span_trace_id: '',
  scorer_trace_id: '',
  wb_user_id: null,
}
