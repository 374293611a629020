import { createHash, randomUUID } from 'node:crypto'
import { sha256 } from '../../src/adapters/system/system.js'
import { contentDigest } from '../../src/domain/objects/weave-digest.js'
import { tableDigest } from '../../src/domain/tables/digests.js'
import type { JsonObject } from '../../src/kernel/json/json.js'
import { appendNext } from '../support/append-next.js'
import type { TestService } from '../support/service.js'
import { aCompleted, anEnd, aStart, endItem, startItem } from '../support/call-requests.js'
import { requestOf, someSpan } from '../support/otlp.js'
import { accepted } from './calls/given.js'

export interface Ask {
  readonly query?: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

const form = (project: string): Ask => ({
  body: [
    '--x\r\nContent-Disposition: form-data; name="project_id"\r\n\r\n',
    `${project}\r\n`,
    '--x\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\ncontent\r\n--x--\r\n',
  ].join(''),
  headers: { 'content-type': 'multipart/form-data; boundary=x' },
})

export const CALL = 'some-call'

/** The file that `form` stores. */
const fileIn = (project_id: string): Ask => ({
  body: { project_id, digest: createHash('sha256').update('content').digest('base64url').replace('-', 'X') },
})

/** Named as the paths name everything. */
const OBJECT = { object_id: 'something', val: { a: 1 } }

const feedbackOn = (project_id: string) => ({
  project_id,
  weave_ref: `weave:///${project_id}/call/${CALL}`,
  feedback_type: 'custom',
  payload: {},
})
const ROW = { a: 1 }
const ROW_DIGEST = contentDigest(sha256, ROW)
const TABLE = tableDigest(sha256, [ROW_DIGEST])

const COLLECTION = '/api/artifacts/{entity}/{project}/{collection}'
const VERSION = { metadata: { a: 1 }, aliases: ['something'] }
const RUN = { name: 'a run', id: 'something' }

const V2 = '/v2/{entity}/{project}'
const REF = 'weave:///team/project/object/something:v0'

const OF_EVALUATIONS: Readonly<Record<string, (project_id: string) => Ask>> = {
  [`POST ${V2}/evaluation_runs`]: () => ({ body: { evaluation: REF, model: REF } }),
  [`GET ${V2}/evaluation_runs`]: () => ({}),
  [`GET ${V2}/evaluation_runs/{evaluation_run_id}`]: () => ({}),
  [`POST ${V2}/evaluation_runs/{evaluation_run_id}/finish`]: () => ({ body: {} }),
  [`DELETE ${V2}/evaluation_runs`]: () => ({ query: '?evaluation_run_ids=unknown' }),
  [`POST ${V2}/predictions`]: () => ({ body: { model: REF, inputs: {}, output: 1 } }),
  [`GET ${V2}/predictions`]: () => ({ query: '?evaluation_run_id=something' }),
  [`GET ${V2}/predictions/{prediction_id}`]: () => ({}),
  [`POST ${V2}/predictions/{prediction_id}/finish`]: () => ({}),
  [`DELETE ${V2}/predictions`]: () => ({ query: '?prediction_ids=unknown' }),
  [`POST ${V2}/scores`]: () => ({ body: { prediction_id: 'some-prediction', scorer: REF, value: 1 } }),
  [`GET ${V2}/scores`]: () => ({ query: '?evaluation_run_id=something' }),
  [`GET ${V2}/scores/{score_id}`]: () => ({}),
  [`DELETE ${V2}/scores`]: () => ({ query: '?score_ids=unknown' }),
  [`POST ${V2}/eval_results/query`]: () => ({ body: { evaluation_run_ids: ['something'] } }),
  'POST /usage/query': (project_id) => ({ body: { project_id, group_by: ['model'] } }),
  'POST /evaluations/compare': (project_id) => ({
    body: { project_id, evaluation_run_ids: ['something', 'another-run'] },
  }),
  'POST /evaluations/status': (project_id) => ({ body: { project_id, call_id: 'something' } }),
  'GET /api/evaluation-rules/{entity}/{project}': () => ({}),
  'POST /leaderboards/read': (project_id) => ({ body: { project_id, object_id: 'board' } }),
  [`POST ${V2}/ops`]: () => ({ body: {} }),
  [`POST ${V2}/datasets`]: () => ({ body: { rows: [{ a: 1 }] } }),
  [`POST ${V2}/scorers`]: () => ({ body: { name: 'scorer', op_source_code: '' } }),
  [`POST ${V2}/evaluations`]: () => ({ body: { name: 'evaluation', dataset: REF } }),
  [`POST ${V2}/models`]: () => ({ body: { name: 'model', source_code: '' } }),
  ...Object.fromEntries(
    ['ops', 'datasets', 'scorers', 'evaluations', 'models'].flatMap((collection) =>
      [
        `GET ${V2}/${collection}`,
        `GET ${V2}/${collection}/{object_id}/versions/{digest}`,
        `DELETE ${V2}/${collection}/{object_id}`,
      ].map((endpoint) => [endpoint, () => ({})]),
    ),
  ),
}

const QUEUES = '/annotation_queues'

const OF_QUEUES: Readonly<Record<string, (project_id: string) => Ask>> = {
  [`POST ${QUEUES}`]: (project_id) => ({ body: { project_id, name: 'q', scorer_refs: [] } }),
  [`POST ${QUEUES}/query`]: (project_id) => ({ body: { project_id } }),
  [`POST ${QUEUES}/stats`]: (project_id) => ({ body: { project_id, queue_ids: ['something'] } }),
  [`GET ${QUEUES}/{queue_id}`]: (project_id) => ({ query: `?project_id=${project_id}` }),
  [`PUT ${QUEUES}/{queue_id}`]: (project_id) => ({ body: { project_id, name: 'other' } }),
  [`DELETE ${QUEUES}/{queue_id}`]: (project_id) => ({ query: `?project_id=${project_id}` }),
  [`POST ${QUEUES}/{queue_id}/items`]: (project_id) => ({
    body: { project_id, call_ids: ['queued'], display_fields: [] },
  }),
  [`POST ${QUEUES}/{queue_id}/items/query`]: (project_id) => ({ body: { project_id } }),
  [`POST ${QUEUES}/{queue_id}/items/{item_id}/progress`]: (project_id) => ({
    body: { project_id, annotation_state: 'in_progress' },
  }),
}

/** A valid request to each endpoint that is about a project; what is not here must be said to be about none. */
export const OF_PROJECTS: Readonly<Record<string, (project_id: string) => Ask>> = {
  'GET /api/prices': (project_id) => ({ query: `?project_id=${project_id}` }),
  'POST /api/pages/calls': (project_id) => ({ body: { project_id } }),
  'POST /api/pages/export': (project_id) => ({ body: { project_id, format: 'csv' } }),
  'POST /api/pages/calls/summary': (project_id) => ({ body: { project_id, fields: ['model', 'op_name'] } }),
  'POST /api/pages/evaluations': (project_id) => ({ body: { project_id } }),
  'POST /api/pages/overview': (project_id) => ({ body: { project_id, start: '2020-01-01T00:00:00Z' } }),
  'POST /api/pages/errors': (project_id) => ({
    body: { project_id, start: '2020-01-01T00:00:00Z', end: '2100-01-01T00:00:00Z' },
  }),
  'POST /api/pages/evaluation-rows': (project_id) => ({
    body: { project_id, evaluation_run_id: 'something' },
  }),
  'POST /api/pages/evaluation-scores': (project_id) => ({
    body: { project_id, evaluation_run_id: 'something' },
  }),
  'POST /api/pages/evaluation-trials': (project_id) => ({ body: { project_id, ids: ['something'] } }),
  'POST /api/pages/comparison': (project_id) => ({
    body: { project_id, evaluation_run_ids: ['something', 'another-run'] },
  }),
  'POST /api/pages/explain': (project_id) => ({
    body: { project_id, trace_id: 'some-trace', call_id: 'of-some-trace' },
  }),
  'POST /api/pages/trace': (project_id) => ({ body: { project_id, trace_id: 'some-trace' } }),
  'POST /api/pages/threads': (project_id) => ({ body: { project_id } }),
  'POST /api/pages/thread': (project_id) => ({ body: { project_id, thread_id: 'some-thread' } }),
  'GET /api/pages/position': (project_id) => ({ query: `?project_id=${project_id}` }),
  'POST /api/pages/runs': (project_id) => ({ body: { project_id } }),
  'POST /api/pages/metric-names': (project_id) => ({ body: { project_id, runs: [RUN.id] } }),
  'POST /api/pages/metrics': (project_id) => ({ body: { project_id, runs: [RUN.id], keys: ['loss'] } }),
  'GET /api/pages/training/models': (project_id) => ({ query: `?project_id=${project_id}` }),
  'GET /api/pages/training/jobs': (project_id) => ({ query: `?project_id=${project_id}&model=something` }),
  'GET /api/pages/values': (project_id) => ({ query: `?project_id=${project_id}&field=op_name` }),
  'GET /api/pages/fields': (project_id) => ({ query: `?project_id=${project_id}` }),
  'GET /api/pages/names': (project_id) => ({ query: `?project_id=${project_id}` }),
  'POST /call/start': (project) => ({ body: { start: aStart(project, { id: CALL }) } }),
  'POST /call/end': (project) => ({ body: { end: anEnd(project, CALL) } }),
  'POST /v2/{entity}/{project}/call/start': (project) => ({ body: { start: aStart(project, { id: CALL }) } }),
  'POST /v2/{entity}/{project}/call/end': (project) => ({ body: { end: anEnd(project, CALL) } }),
  'POST /call/upsert_batch': (project) => ({
    body: { batch: [startItem(aStart(project, { id: CALL })), endItem(anEnd(project, CALL))] },
  }),
  'POST /v2/{entity}/{project}/calls/complete': (project) => ({
    body: { batch: [aCompleted(project, { id: CALL })] },
  }),
  [`POST ${V2}/otel/v1/traces`]: () => ({ body: requestOf([someSpan()]) }),
  'POST /call/update': (project_id) => ({ body: { project_id, call_id: CALL, display_name: 'name' } }),
  'POST /calls/delete': (project_id) => ({ body: { project_id, call_ids: ['unknown'] } }),
  'POST /call/read': (project_id) => ({ body: { project_id, id: CALL } }),
  'POST /calls/query': (project_id) => ({ body: { project_id } }),
  'POST /calls/stream_query': (project_id) => ({ body: { project_id } }),
  'POST /calls/query_stats': (project_id) => ({ body: { project_id } }),
  'POST /calls/stats': (project_id) => ({
    body: { project_id, start: '2026-01-01T00:00:00Z', end: '2026-01-02T00:00:00Z' },
  }),
  'POST /threads/stream_query': (project_id) => ({ body: { project_id } }),
  'POST /project/stats': (project_id) => ({ body: { project_id } }),
  'POST /files/stats': (project_id) => ({ body: { project_id } }),
  'POST /files/query_stats': (project_id) => ({ body: { project_id } }),
  'POST /trace/usage': (project_id) => ({ body: { project_id } }),
  'POST /calls/usage': (project_id) => ({ body: { project_id, call_ids: [CALL] } }),
  'POST /obj/create': (project_id) => ({ body: { obj: { project_id, ...OBJECT } } }),
  'POST /feedback/create': (project) => ({ body: feedbackOn(project) }),
  'POST /feedback/batch/create': (project) => ({ body: { batch: [feedbackOn(project)] } }),
  'POST /feedback/query': (project_id) => ({ body: { project_id } }),
  'POST /feedback/purge': (project_id) => ({
    body: { project_id, query: { $expr: { $eq: [{ $getField: 'id' }, { $literal: 'unknown' }] } } },
  }),
  'POST /feedback/replace': (project) => ({ body: { ...feedbackOn(project), feedback_id: 'unknown' } }),
  'POST /cost/create': (project_id) => ({
    body: { project_id, costs: { m: { prompt_token_cost: 1, completion_token_cost: 2 } } },
  }),
  'POST /cost/query': (project_id) => ({ body: { project_id } }),
  'POST /cost/purge': (project_id) => ({
    body: { project_id, query: { $expr: { $eq: [{ $getField: 'id' }, { $literal: 'unknown' }] } } },
  }),
  'POST /obj/read': (project_id) => ({ body: { project_id, object_id: OBJECT.object_id, digest: 'latest' } }),
  'POST /objs/query': (project_id) => ({ body: { project_id } }),
  'PUT /objs/{object_id}/versions/{digest}/tags': (project_id) => ({ body: { project_id, tags: ['tag'] } }),
  'POST /objs/{object_id}/versions/{digest}/tags/remove': (project_id) => ({
    body: { project_id, tags: ['tag'] },
  }),
  'PUT /objs/{object_id}/aliases': (project_id) => ({
    body: { project_id, digest: 'latest', aliases: ['something'] },
  }),
  'POST /objs/{object_id}/aliases/remove': (project_id) => ({ body: { project_id, aliases: ['alias'] } }),
  'GET /tags': (project_id) => ({ query: `?project_id=${project_id}` }),
  'GET /aliases': (project_id) => ({ query: `?project_id=${project_id}` }),
  'POST /obj/delete': (project_id) => ({ body: { project_id, object_id: OBJECT.object_id } }),
  'POST /table/create': (project_id) => ({ body: { table: { project_id, rows: [ROW] } } }),
  'POST /table/create_from_digests': (project_id) => ({ body: { project_id, row_digests: [ROW_DIGEST] } }),
  'POST /table/update': (project_id) => ({
    body: { project_id, base_digest: TABLE, updates: [{ append: { row: { b: 1 } } }] },
  }),
  'POST /table/query': (project_id) => ({ body: { project_id, digest: TABLE } }),
  'POST /table/query_stream': (project_id) => ({ body: { project_id, digest: TABLE } }),
  'POST /table/query_stats': (project_id) => ({ body: { project_id, digest: TABLE } }),
  'POST /table/query_stats_batch': (project_id) => ({ body: { project_id, digests: [TABLE] } }),
  'POST /file/create': form,
  'POST /files/create': form,
  'POST /file/content': fileIn,
  'POST /files/content': fileIn,
  'GET /api/projects/{entity}/{project}': () => ({}),
  'DELETE /api/projects/{entity}/{project}': () => ({ query: '?dry_run=true' }),
  'POST /api/projects/{entity}/{project}/erasures': () => ({
    body: { selection: { filter: { call_ids: [CALL] } }, reason: 'a test', dry_run: true },
  }),
  'GET /api/projects/{entity}/{project}/erasures': () => ({}),
  'GET /api/projects/{entity}/{project}/erasures/{id}': () => ({}),
  'PUT /api/projects/{entity}/{project}': () => ({ body: { usage_reporting: 'own' } }),
  [`POST ${COLLECTION}/versions`]: () => ({ body: VERSION }),
  [`GET ${COLLECTION}/versions`]: () => ({}),
  [`GET ${COLLECTION}/versions/{version}`]: () => ({}),
  [`POST ${COLLECTION}/versions/{version}/aliases`]: () => ({ body: { alias: 'other' } }),
  [`DELETE ${COLLECTION}/aliases/{alias}`]: () => ({}),
  [`POST ${COLLECTION}/versions/{version}/tags`]: () => ({ body: { tag: 'tag' } }),
  [`DELETE ${COLLECTION}/versions/{version}/tags/{tag}`]: () => ({}),
  'POST /api/runs/{entity}/{project}': () => ({ body: RUN }),
  'GET /api/runs/{entity}/{project}': () => ({}),
  'GET /api/runs/{entity}/{project}/{run}': () => ({}),
  'GET /api/runs/{entity}/{project}/{run}/history': () => ({}),
  'GET /api/runs/{entity}/{project}/{run}/console': () => ({}),
  'GET /api/runs/{entity}/{project}/{run}/artifacts': () => ({}),
  'GET /api/artifacts/{entity}/{project}/{collection}/versions/{version}/used_by': () => ({}),
  'GET /api/artifacts/{entity}/{project}': () => ({}),
  'POST /api/runs/{entity}/{project}/{run}/metrics': () => ({ body: { metrics: { a: 1 }, step: 1 } }),
  'POST /api/runs/{entity}/{project}/{run}/finish': () => ({ body: { state: 'finished' } }),
  'POST /files/{entity}/{project}/{run}/file_stream': () => ({
    body: { files: { 'wandb-history.jsonl': { offset: 0, content: ['{"_step":0}'] } } },
  }),
  ...OF_EVALUATIONS,
  ...OF_QUEUES,
}

/** What paths under `/v2` name: objects of each class, and calls of an evaluation. */
const CLASSES: Readonly<Record<string, JsonObject>> = {
  ops: { _type: 'CustomWeaveType', weave_type: { type: 'Op' }, files: {} },
  datasets: { _type: 'Dataset', _class_name: 'Dataset', _bases: ['Object', 'BaseModel'] },
  scorers: { _type: 'Scorer', _class_name: 'Scorer', _bases: ['Object', 'BaseModel'] },
  evaluations: { _type: 'Evaluation', _class_name: 'Evaluation', _bases: ['Object', 'BaseModel'] },
  models: { _type: 'Model', _class_name: 'Model', _bases: ['Object', 'BaseModel'] },
}

const evaluationCalls = (project: string) =>
  (
    [
      ['something', null, { evaluation_run: 'true' }],
      ['another-run', null, { evaluation_run: 'true' }],
      ['some-prediction', 'something', { prediction: 'true' }],
      ['some-score', 'some-prediction', { score: 'true' }],
    ] as const
  ).map(([id, parent_id, weave]) =>
    startItem(aStart(project, { id, parent_id, trace_id: 'something', attributes: { weave } })),
  )

const REGISTERED = '/api/registries/{registry}/{collection}'

/** The same of registries, which name their team in what is asked. */
export const OF_REGISTRIES: Readonly<Record<string, (team: string) => Ask>> = {
  'POST /api/registries': (team) => ({ body: { name: 'another', team } }),
  'GET /api/registries': (team) => ({ query: `?team=${team}` }),
  'GET /api/registries/{registry}': (team) => ({ query: `?team=${team}` }),
  [`POST ${REGISTERED}/links`]: (team) => ({
    query: `?team=${team}`,
    body: { entity: team, project: 'project', collection: 'something', version: 'something' },
  }),
  [`DELETE ${REGISTERED}/links/{version}`]: (team) => ({ query: `?team=${team}` }),
  [`GET ${REGISTERED}/versions`]: (team) => ({ query: `?team=${team}` }),
  [`GET ${REGISTERED}/versions/{version}`]: (team) => ({ query: `?team=${team}` }),
  [`POST ${REGISTERED}/versions/{version}/aliases`]: (team) => ({
    query: `?team=${team}`,
    body: { alias: 'other' },
  }),
  [`DELETE ${REGISTERED}/aliases/{alias}`]: (team) => ({ query: `?team=${team}` }),
  [`POST ${REGISTERED}/versions/{version}/tags`]: (team) => ({
    query: `?team=${team}`,
    body: { tag: 'tag' },
  }),
  [`DELETE ${REGISTERED}/versions/{version}/tags/{tag}`]: (team) => ({ query: `?team=${team}` }),
}

const someEvent = (type: string, data: JsonObject) => ({
  ...{ id: randomUUID(), type, data },
  metadata: { correlationId: 'c', causationId: 'c', actor: 'test', schemaVersion: 1 },
})

const append = (service: TestService, stream: string, type: string, data: JsonObject) =>
  appendNext(service.stores.eventStore, stream, [someEvent(type, data)])

/** A finished erasure, which the service does not carry out. */
const makeErasure = (service: TestService, project_id: string) => {
  const [ofErasure, at] = [{ project_id, id: 'something' }, '2026-01-01T00:00:00.000000Z']
  const request = { requested_at: at, requested_by: 'test', reason: 'a test', filter: {} }
  const totals = { calls: 0, events: 0, bytes: 0, unreadable: 0, blobs_deleted: 0 }
  return appendNext(service.stores.eventStore, `erasure-${project_id}/something`, [
    someEvent('ErasureRequested', { ...ofErasure, ...request }),
    someEvent('ErasureFinished', { ...ofErasure, finished_at: at, ...totals }),
  ])
}

/** A queue, an item and its call, under the names of the paths; the service would choose other ids. */
const makeQueue = async (service: TestService, project_id: string, key: string): Promise<void> => {
  const client = service.in(project_id).with({ key })
  await client.calls.start({ id: 'queued' }).json()
  const at = '2026-01-01T00:00:00.000000Z'
  const created = { project_id, id: 'something', created_by: 'test', created_at: at }
  const item = { project_id, queue_id: 'something', id: 'something', call_id: 'queued' }
  const call = { call_op_name: 'answer', call_trace_id: 'queued', call_started_at: at }
  for (const [stream, type, data] of [
    [
      'annotation_queue',
      'AnnotationQueueCreated',
      { ...created, name: 'q', description: '', scorer_refs: [] },
    ],
    [
      'annotation_item',
      'AnnotationItemAdded',
      { ...item, ...call, display_fields: [], added_by: '', created_at: at },
    ],
  ] as const) {
    const { position } = await append(service, `${stream}-${project_id}/something`, type, data)
    const options = { key, headers: { 'Tallytree-Min-Position': String(position) } }
    accepted(await service.post('/calls/query_stats', { project_id }, options))
  }
}

/** Makes what a path names where requests need it: some of them take it away, or end it. */
export const makeFor = async (
  service: TestService,
  path: string,
  project_id: string,
  key: string,
): Promise<void> => {
  const post = async (at: string, body: object) => accepted(await service.post(at, body, { key }))
  if (path.startsWith('/api/artifacts/'))
    await post(`/api/artifacts/${project_id}/something/versions`, VERSION)
  if (
    /\/(evaluation_runs|predictions|scores|eval_results|comparison|evaluation-|evaluations\/(compare|status))/.test(
      path,
    )
  )
    await post('/call/upsert_batch', { batch: evaluationCalls(project_id) })
  if (path === '/api/pages/trace' || path === '/api/pages/explain')
    await post('/call/start', { start: aStart(project_id, { id: 'of-some-trace', trace_id: 'some-trace' }) })
  if (path === '/api/pages/thread') {
    const turn = { id: 'turn-of-thread', turn_id: 'turn-of-thread', thread_id: 'some-thread' }
    await post('/call/start', { start: aStart(project_id, turn) })
  }
  if (path === '/api/pages/training/jobs') {
    const [entity, project] = project_id.split('/')
    await post('/v1/preview/models', {
      entity,
      project,
      name: 'something',
      base_model: 'tiny/byte',
      return_existing: true,
    })
  }
  if (path.startsWith('/leaderboards')) {
    const val = { _type: 'Leaderboard', _class_name: 'Leaderboard', columns: [] }
    await post('/obj/create', { obj: { project_id, object_id: 'board', val } })
  }
  const val = CLASSES[/^\/v2\/[^/]+\/[^/]+\/(\w+)\/something/.exec(path)?.[1] ?? '']
  if (val !== undefined) {
    const { digest } = await post('/obj/create', { obj: { project_id, object_id: 'something', val } })
    const body = { project_id, digest, aliases: ['something'] }
    accepted(await service.send('PUT', '/objs/something/aliases', body, { key }))
  }
  if (path.startsWith('/annotation_queues/something')) await makeQueue(service, project_id, key)
  if (path.includes('/erasures/')) await makeErasure(service, project_id)
  if (path.startsWith('/api/runs/') || path.endsWith('/file_stream'))
    await post(`/api/runs/${project_id}`, RUN)
  if (!path.startsWith('/obj')) return
  await post('/obj/create', { obj: { project_id, ...OBJECT } })
  const body = { project_id, digest: 'latest', aliases: ['something'] }
  accepted(await service.send('PUT', '/objs/something/aliases', body, { key }))
}

/** A registry of a team whose project has artifacts, with one of them. */
export const makeRegistryOf = async (service: TestService, team: string, key: string): Promise<void> => {
  const collection = '/api/registries/something/something'
  for (const [path, body] of [
    ['/api/registries', { name: 'something', team }],
    [`/api/artifacts/${team}/project/something/versions`, VERSION],
    [`${collection}/links`, { entity: team, project: 'project', collection: 'something', version: 'v0' }],
    [`${collection}/versions/v0/aliases`, { alias: 'something' }],
  ] as const)
    accepted(await service.post(path, body, { key }))
}
