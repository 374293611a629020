import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { openClickHouseServer } from '../../../../src/adapters/clickhouse/server.js'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import { startClickHouseFront, type ClickHouseFront } from '../../../support/clickhouse-http-front.js'
import { arbitraryDatabase } from '../../../support/engine.js'
import { startTestService, type TestService } from '../../../support/service.js'

const PROJECT = 'served/remotely'

const startOf = (id: string, parent_id: string | null = null) => ({
  project_id: PROJECT,
  id,
  trace_id: parent_id ?? id,
  parent_id,
  op_name: "op 'of' \\ \n",
  started_at: '2026-01-01T00:00:00.123456Z',
  attributes: {},
  inputs: { of: id, text: '\u0000 " \u2028 😀' },
})

const endOf = (id: string) => ({
  project_id: PROJECT,
  id,
  ended_at: '2026-01-01T00:00:01Z',
  output: ['done'],
  summary: { usage: { 'gpt-4': { requests: 1, prompt_tokens: 3 } } },
})

describe('the service over a ClickHouse server', () => {
  let front: ClickHouseFront
  let service: TestService

  before(async () => {
    front = await startClickHouseFront()
    const url = `${front.url}/${arbitraryDatabase()}`
    service = await startTestService({ CLICKHOUSE_URL: url }, (health) =>
      openClickHouseServer(url, { health }),
    )
  })
  after(async () => {
    await service.stop()
    await front.stop()
  })

  const post = async (path: string, body: unknown): Promise<string> => {
    const { status, text } = await service.post(path, body)
    assert.equal(status, 200, text)
    return text
  }

  const usageOf = async (filter: JsonObject | null) => {
    const text = await post('/trace/usage', { project_id: PROJECT, filter })
    return (JSON.parse(text) as { call_usage: Record<string, Record<string, JsonObject>> }).call_usage
  }

  it('records calls and answers for them, with usage that includes descendants', async () => {
    await post('/call/start', { start: startOf('root') })
    await post('/call/start', { start: startOf('child', 'root') })
    await post('/call/end', { end: endOf('child') })
    await post('/call/end', { end: endOf('root') })

    const lines = await post('/calls/stream_query', {
      project_id: PROJECT,
      filter: { op_names: ["op 'of' \\ \n"] },
      sort_by: [{ field: 'id', direction: 'desc' }],
    })
    const calls = lines
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as ReturnType<typeof startOf> & { readonly output: unknown })

    assert.deepEqual(
      calls.map(({ id }) => id),
      ['root', 'child'],
    )
    for (const { id, inputs, started_at, output } of calls) {
      assert.deepEqual(inputs, startOf(id).inputs)
      assert.equal(started_at, '2026-01-01T00:00:00.123456Z')
      assert.deepEqual(output, ['done'])
    }
    const usage = await usageOf({ trace_ids: ['root'] })
    assert.equal(usage['root']?.['gpt-4']?.['prompt_tokens'], 6)
    assert.equal(usage['child']?.['gpt-4']?.['prompt_tokens'], 3)
  })

  it('answers for more traces than fit into one value of a request', async () => {
    const ids = Array.from({ length: 4000 }, () => randomUUID())
    const batch = ids.flatMap((id) => [
      { mode: 'start', req: { start: startOf(id) } },
      { mode: 'end', req: { end: endOf(id) } },
    ])
    await post('/call/upsert_batch', { batch })

    const usage = await usageOf(null)

    for (const id of ids) assert.equal(usage[id]?.['gpt-4']?.['requests'], 1)
    assert.deepEqual(
      service.logged.filter(({ level }) => level !== 'info'),
      [],
    )
  })
})
