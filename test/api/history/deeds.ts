import fc from 'fast-check'

/** A write to a project, and its answer's digest where a later write speaks of it. */
export interface Deed {
  readonly method?: 'PUT'
  readonly path: string
  readonly body: object
}

const calls = fc.constantFrom('a', 'b', 'c', 'd', 'e')
const traces = fc.constantFrom('t', 'u')
const versions = fc.constantFrom('latest', 'v0', 'v1', 'v2')
const objects = fc.constantFrom('o', 'p')
const labels = fc.subarray(['red', 'green', 'blue'], { minLength: 1 })
const values = fc.constantFrom({ n: 0 }, { n: 1 }, { n: 2, _type: 'Model', _bases: ['Object', 'BaseModel'] })
const rows = fc.array(fc.constantFrom({ r: 0 }, { r: 1 }, { r: 2 }, { r: 'x' }), { maxLength: 4 })
const minutes = fc.integer({ min: 10, max: 59 })
const usage = fc.dictionary(
  fc.constantFrom('small', 'large'),
  fc.record({ requests: fc.nat(3), prompt_tokens: fc.nat(9), completion_tokens: fc.nat(9) }),
)
/** Now and then larger than an event takes. */
const outputs = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(null, 'text', { ref: 'weave:///x/y/object/o:v0' }, [1]) },
  { weight: 1, arbitrary: fc.constant('x'.repeat(300_000)) },
)

/** Writes of every kind to a project; many of them speak of the same things again. */
export const arbitraryDeed = (project_id: string): fc.Arbitrary<Deed> => {
  const sdk = fc.constantFrom({}, { weave: { source: 'js-sdk' } })
  const start = fc.record(
    {
      project_id: fc.constant(project_id),
      id: calls,
      trace_id: traces,
      op_name: fc.constantFrom('f', 'g', `weave:///${project_id}/op/h:1`),
      started_at: minutes.map((minute) => `2026-01-01T00:${minute}:00Z`),
      attributes: sdk,
      inputs: fc.constantFrom({}, { x: 1 }, { ref: `weave:///${project_id}/object/o:v0` }),
      parent_id: calls,
      display_name: fc.constantFrom('one', 'two'),
      thread_id: traces,
      wb_run_step: fc.nat(3),
    },
    { requiredKeys: ['project_id', 'id', 'trace_id', 'op_name', 'started_at', 'attributes', 'inputs'] },
  )
  const end = fc.record(
    {
      project_id: fc.constant(project_id),
      id: calls,
      ended_at: minutes.map((minute) => `2026-01-01T01:${minute}:00.5Z`),
      summary: fc.record({ usage }),
      output: outputs,
      exception: fc.constant('no'),
    },
    { requiredKeys: ['project_id', 'id', 'ended_at', 'summary'] },
  )
  const post = (path: string, body: fc.Arbitrary<object>) => body.map((body): Deed => ({ path, body }))
  const put = (path: fc.Arbitrary<string>, body: fc.Arbitrary<object>) =>
    fc.tuple(path, body).map(([path, body]): Deed => ({ method: 'PUT', path, body }))
  const ofProject = <A extends object>(arbitrary: fc.Arbitrary<A>) =>
    arbitrary.map((more): object => ({ project_id, ...more }))
  const feedback = fc.record({
    weave_ref: calls.map((id) => `weave:///${project_id}/call/${id}`),
    feedback_type: fc.constantFrom('custom', 'note'),
    payload: fc.record({ score: fc.nat(3) }),
  })
  const given = fc.constantFrom('given-1', 'given-2')
  const ofGiven = (id: string) => ({ $expr: { $eq: [{ $getField: 'id' }, { $literal: id }] } })

  return fc.oneof(
    {
      weight: 8,
      arbitrary: post(
        '/call/start',
        start.map((start) => ({ start })),
      ),
    },
    {
      weight: 8,
      arbitrary: post(
        '/call/end',
        end.map((end) => ({ end })),
      ),
    },
    {
      weight: 3,
      arbitrary: post(
        '/call/update',
        ofProject(fc.record({ call_id: calls, display_name: fc.constantFrom('', 'x', 'y') })),
      ),
    },
    {
      weight: 2,
      arbitrary: post('/calls/delete', ofProject(fc.record({ call_ids: fc.array(calls, { maxLength: 2 }) }))),
    },
    {
      weight: 1,
      arbitrary: put(
        fc.constant(`/api/projects/${project_id}`),
        fc.oneof(
          fc.record({ usage_reporting: fc.constantFrom('auto', 'own', 'rolled_up') }),
          fc.record({ end_user_attribute: fc.constantFrom('', 'customer', 'customer.id') }),
        ),
      ),
    },
    {
      weight: 4,
      arbitrary: post(
        '/obj/create',
        fc.record({ object_id: objects, val: values }).map((obj) => ({ obj: { project_id, ...obj } })),
      ),
    },
    { weight: 1, arbitrary: post('/obj/delete', ofProject(fc.record({ object_id: objects }))) },
    {
      weight: 2,
      arbitrary: put(
        fc.tuple(objects, versions).map(([object, version]) => `/objs/${object}/versions/${version}/tags`),
        ofProject(fc.record({ tags: labels })),
      ),
    },
    {
      weight: 2,
      arbitrary: put(
        objects.map((object) => `/objs/${object}/aliases`),
        ofProject(fc.record({ digest: versions, aliases: labels })),
      ),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(objects, ofProject(fc.record({ aliases: labels })))
        .map(([object, body]): Deed => ({ path: `/objs/${object}/aliases/remove`, body })),
    },
    {
      weight: 2,
      arbitrary: post(
        '/table/create',
        rows.map((rows) => ({ table: { project_id, rows } })),
      ),
    },
    {
      weight: 3,
      arbitrary: post(
        '/feedback/create',
        ofProject(fc.tuple(given, feedback).map(([id, one]) => ({ id, ...one }))),
      ),
    },
    { weight: 1, arbitrary: post('/feedback/purge', ofProject(given.map((id) => ({ query: ofGiven(id) })))) },
    {
      weight: 1,
      arbitrary: post(
        '/feedback/replace',
        ofProject(fc.tuple(given, feedback).map(([feedback_id, one]) => ({ feedback_id, ...one }))),
      ),
    },
  )
}

export interface Question {
  readonly path: string
  readonly body?: object
}

/** Reads of every kind; `tables` are the digests of all tables that there will ever be. */
export const questionsAbout = (project_id: string, tables: readonly string[]): readonly Question[] => {
  const of = (path: string, ...bodies: readonly object[]) =>
    bodies.map((body): Question => ({ path, body: { project_id, ...body } }))
  const ids = ['a', 'b', 'c', 'd', 'e']
  const sorts = ['ended_at', 'display_name', 'exception', 'wb_run_step', 'op_name'].flatMap((field) =>
    (['asc', 'desc'] as const).map((direction) => ({ sort_by: [{ field, direction }] })),
  )
  const filters = [
    { trace_ids: ['t'] },
    { trace_roots_only: true },
    { parent_ids: ['a', 'b'] },
    { op_names: ['f', 'h'] },
    { output_refs: ['weave:///x/y/object/o:*'] },
    { input_refs: [`weave:///${project_id}/object/o:v0`] },
    { call_ids: ['a', 'c'] },
    { thread_ids: ['t'] },
  ].map((filter) => ({ filter }))
  const day = { start: '2026-01-01T00:00:00Z', end: '2026-01-01T02:00:00Z', granularity: 900 }
  const figures = { aggregations: ['sum', 'avg', 'min', 'max', 'count'], percentiles: [50, 95] }
  const stats = {
    ...day,
    usage_metrics: ['total_tokens', 'total_cost'].map((metric) => ({ metric, ...figures })),
    call_metrics: ['call_count', 'error_count', 'latency_ms'].map((metric) => ({ metric, ...figures })),
  }
  const field = ($getField: string) => ({ $getField })
  const queries = [
    { $eq: [field('summary.weave.status'), { $literal: 'success' }] },
    { $convert: { input: field('feedback.[note].payload'), to: 'exists' } },
    { $not: [{ $eq: [field('display_name'), { $literal: 'name' }] }] },
  ].map((condition) => ({ query: { $expr: { $and: [condition] } } }))
  const refs = [
    ...ids.map((id) => `weave:///${project_id}/call/${id}/attr/output`),
    ...['latest', 'v0', 'v1'].flatMap((name) =>
      ['o', 'p'].map((o) => `weave:///${project_id}/object/${o}:${name}`),
    ),
    ...tables.map((digest) => `weave:///${project_id}/table/${digest}/index/0`),
  ]
  return [
    ...of('/call/read', ...ids.map((id) => ({ id }))),
    ...of('/calls/query', {}, { include_feedback: true }, { limit: 2, offset: 1 }, ...sorts),
    ...of('/calls/stream_query', ...filters),
    ...of('/calls/query_stats', {}, { limit: 2 }, ...filters),
    ...of('/trace/usage', {}, { limit: 2 }, ...filters),
    ...of('/calls/usage', { call_ids: ids }),
    ...of('/calls/stats', stats, ...[...filters, ...queries].map((one) => ({ ...stats, ...one }))),
    ...of(
      '/obj/read',
      ...['o', 'p'].flatMap((object_id) =>
        ['latest', 'v0', 'v1', 'v2', 'red'].flatMap((digest) =>
          [true, false].map((include_tags_and_aliases) => ({ object_id, digest, include_tags_and_aliases })),
        ),
      ),
    ),
    ...of(
      '/objs/query',
      { include_tags_and_aliases: true },
      { filter: { latest_only: true } },
      { filter: { tags: ['red'] } },
    ),
    { path: `/tags?project_id=${project_id}` },
    { path: `/aliases?project_id=${project_id}` },
    ...of('/table/query_stats_batch', { digests: tables, include_storage_size: true }),
    ...of('/table/query', ...tables.map((digest) => ({ digest }))),
    ...of('/feedback/query', {}, { sort_by: [{ field: 'payload.score', direction: 'desc' }] }),
    { path: '/refs/read_batch', body: { refs } },
  ]
}
