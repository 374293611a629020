import assert from 'node:assert/strict'
import { ADMINISTRATOR_KEY, startTestService, type TestService } from '../../../support/service.js'
import type { JsonObject } from '../../../../src/domain/json/json.js'
import { usageOf } from '../../../e2e/usage.js'
import { aStart, anEnd, anObject, at, callsQuery, pythonClient, type PythonClient } from './python-client.js'

const CODE = 'import weave\n\n@weave.op\ndef answer(question: str) -> str:\n    return "Därum."\n'

/** The requests of the Python SDK as they were read in its sources; the SDK itself is not run here. */
describe('the requests of the Python SDK when it traces', () => {
  let service: TestService
  let python: PythonClient
  before(async () => {
    service = await startTestService()
    python = pythonClient(service.address, ADMINISTRATOR_KEY)
  })
  after(() => service.stop())

  const usage = { requests: 1, prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 }
  const askSummary = { usage: { chatty: usage }, status_counts: { success: 1, error: 0 } }
  const rootSummary = { usage: { chatty: usage }, status_counts: { success: 2, error: 0 } }

  const expectTrace = async (project_id: string, ids: readonly [string, string]) => {
    const calls = await python.lines('/calls/stream_query', callsQuery(project_id))
    assert.deepEqual(
      calls.map(({ id, parent_id, output, started_at }) => [id, parent_id, output, started_at]),
      [
        [ids[0], null, 'Därum.', at(1)],
        [ids[1], ids[0], { model: 'chatty', usage }, at(2)],
      ],
    )
    for (const call of calls)
      for (const key of ['project_id', 'op_name', 'trace_id', 'attributes', 'inputs', 'ended_at', 'summary'])
        assert.ok(call[key] !== undefined && call[key] !== null, `${key} is missing`)
    const used = await python.post('/trace/usage', {
      project_id,
      filter: { ...(callsQuery(project_id, {})['filter'] as JsonObject), trace_ids: [ids[0]] },
      query: null,
      include_costs: false,
      limit: 10_000,
    })
    const counted = usageOf({ chatty: [1, 7, 2] })
    assert.deepEqual(used, {
      call_usage: { [ids[0]]: counted, [ids[1]]: counted },
      unfinished_call_ids: [],
    })
  }

  for (const partType of [undefined, 'text/x-python'])
    it(`store the code of an op, its part of type ${partType ?? 'none'}, and publish the op`, async () => {
      const project_id = `team/python-op-${partType === undefined ? 'bare' : 'typed'}`
      const { digest } = await python.upload(project_id, 'obj.py', CODE, partType)
      assert.match(digest as string, /^[A-Za-z0-9]{43}$/)
      const val = { _type: 'CustomWeaveType', weave_type: { type: 'Op' }, files: { 'obj.py': digest! } }
      const created = await python.post('/obj/create', anObject(project_id, 'answer', val))
      assert.match(created['digest'] as string, /^[A-Za-z0-9]{43}$/)
      const content = await python.content('/files/content', { project_id, digest: digest! })
      assert.equal(content.toString('utf8'), CODE)
    })

  it('send starts and ends in batches by default', async () => {
    const project_id = 'team/python-batches'
    const [root, child] = ['0197-root', '0197-child']
    const common = { op_name: `weave:///${project_id}/op/answer:${'a'.repeat(43)}`, trace_id: root }
    const start = (more: JsonObject) => ({
      mode: 'start',
      req: { start: aStart(project_id, { ...common, ...more }) },
    })
    const end = (more: JsonObject) => ({ mode: 'end', req: { end: anEnd(project_id, more) } })
    const first = await python.post<{ res: unknown }>('/call/upsert_batch', {
      batch: [
        start({ id: root }),
        start({ id: child, parent_id: root, started_at: at(2) }),
        end({ id: child, output: { model: 'chatty', usage }, summary: askSummary, ended_at: at(3) }),
      ],
    })
    assert.deepEqual(first.res, [{ id: root, trace_id: root }, { id: child, trace_id: root }, {}])
    const last = await python.post('/call/upsert_batch', {
      batch: [end({ id: root, output: 'Därum.', summary: rootSummary, ended_at: at(4) })],
    })
    assert.deepEqual(last, { res: [{}] })
    await expectTrace(project_id, [root, child])
  })

  it('send completed calls, and eager ones by two requests, in the newer mode', async () => {
    const project_id = 'team/python-complete'
    const [root, child] = ['0197-eager', '0197-complete']
    const op_name = `weave:///${project_id}/op/answer:${'a'.repeat(43)}`
    const start = aStart(project_id, { id: root, trace_id: root, op_name })
    const started = await python.post('/v2/team/python-complete/call/start', { start })
    assert.deepEqual(started, { id: root, trace_id: root })
    const { is_eval, ...childEnd } = anEnd(project_id, {
      output: { model: 'chatty', usage },
      ended_at: at(3),
    })
    assert.equal(is_eval, null)
    const complete = {
      ...childEnd,
      ...aStart(project_id, { id: child, trace_id: root, parent_id: root, op_name, started_at: at(2) }),
      summary: askSummary,
    }
    assert.deepEqual(await python.post('/v2/team/python-complete/calls/complete', { batch: [complete] }), {})
    const end = anEnd(project_id, {
      id: root,
      trace_id: root,
      started_at: at(1),
      is_eval: true,
      output: 'Därum.',
      summary: rootSummary,
      ended_at: at(4),
    })
    assert.deepEqual(await python.post('/v2/team/python-complete/call/end', { end }), {})
    await expectTrace(project_id, [root, child])
  })

  it('send requests of almost 31 MiB, and read back what was in them', async () => {
    const project_id = 'team/python-large'
    const output = 'ü'.repeat(16_200_000)
    await python.post('/call/upsert_batch', {
      batch: [
        { mode: 'start', req: { start: aStart(project_id, { id: 'one', trace_id: 'one', op_name: 'op' }) } },
        { mode: 'end', req: { end: anEnd(project_id, { id: 'one', output }) } },
      ],
    })
    const [call] = await python.lines('/calls/stream_query', callsQuery(project_id))
    assert.ok(call!['output'] === output)
  })

  it('read, count, rename and delete calls', async () => {
    const project_id = 'team/python-reads'
    const start = aStart(project_id, { id: 'one', trace_id: 'one', op_name: 'answer' })
    await python.post('/call/upsert_batch', {
      batch: [
        { mode: 'start', req: { start } },
        { mode: 'end', req: { end: anEnd(project_id, { id: 'one' }) } },
      ],
    })
    const updated = { project_id, call_id: 'one', display_name: 'named', wb_user_id: null }
    assert.deepEqual(await python.post('/call/update', updated), {})
    const { call } = await python.post<{ call: JsonObject }>('/call/read', {
      project_id,
      id: 'one',
      include_costs: false,
      include_storage_size: false,
      include_total_storage_size: false,
    })
    assert.deepEqual([call['display_name'], call['wb_user_id']], ['named', 'admin'])
    const { filter } = callsQuery(project_id, { call_ids: ['one'] })
    const asked = { project_id, filter: filter!, query: null, limit: null }
    const count = { ...asked, include_total_storage_size: false, expand_columns: null }
    assert.equal((await python.post('/calls/query_stats', count))['count'], 1)
    const deleted = await python.post('/calls/delete', { project_id, call_ids: ['one'], wb_user_id: null })
    assert.deepEqual(deleted, { num_deleted: 1 })
  })
})
