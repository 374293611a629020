import assert from 'node:assert/strict'
import { openClickHouseServer } from '../../../../src/adapters/clickhouse/server.js'
import { openHealth } from '../../../../src/application/health.js'
import { noHealthReports, type HealthReports } from '../../../../src/kernel/ports/health.js'
import { ReadAbandoned, ReadTooExpensive, type ClickHouse } from '../../../../src/kernel/ports/clickhouse.js'
import {
  describeWithClickHouseServer,
  startClickHouseServer,
  type ClickHouseServer,
} from '../../../support/clickhouse-server.js'
import { arbitraryDatabase } from '../../../support/engine.js'
import { startTestService, type TestService } from '../../../support/service.js'
import { until } from '../../../support/until.js'

/** Needs minutes, and no memory. */
const SLOW = 'SELECT count() AS calls FROM numbers(1e15) WHERE sipHash64(number) = 0'
const READ_TIMEOUT_MS = 1500
const ENDED_WITHIN_MS = 5000

describeWithClickHouseServer('a read of a ClickHouse server', () => {
  let server: ClickHouseServer
  let clickHouse: ClickHouse
  let service: TestService | undefined
  before(async () => (server = await startClickHouseServer()))
  after(() => server.stop())
  afterEach(async () => {
    await service?.stop()
    await clickHouse.close()
    service = undefined
  })

  const open = async (health: HealthReports = noHealthReports) => {
    const url = `${server.url}/${arbitraryDatabase()}`
    clickHouse = await openClickHouseServer(url, { readTimeoutMs: READ_TIMEOUT_MS, health })
    return url
  }

  const running = async (text: string): Promise<number> =>
    Number(
      await server.ask(
        `SELECT count() FROM system.processes WHERE query LIKE '%${text}%' AND query NOT LIKE '%system.processes%'`,
      ),
    )

  const untilRunning = (text: string, expected: (queries: number) => boolean) =>
    until(async () => expected(await running(text)), ENDED_WITHIN_MS)

  it('is cancelled on the server when its reader gives it up', async () => {
    await open()
    for (const read of [
      (signal: AbortSignal) => clickHouse.reader.query(SLOW, {}, { signal }),
      (signal: AbortSignal) => clickHouse.reader.stream(SLOW, {}, { signal })[Symbol.asyncIterator]().next(),
      (signal: AbortSignal) => clickHouse.reader.query(`${SLOW} AND {p:String} = ''`, { p: '' }, { signal }),
    ]) {
      const leaving = new AbortController()
      const outcome = assert.rejects(read(leaving.signal), ReadAbandoned)
      await untilRunning('sipHash64', (queries) => queries === 1)
      leaving.abort()
      await outcome
      await untilRunning('sipHash64', (queries) => queries === 0)
    }
  })

  it('took too long when the server answers nothing in time, and is not a fault', async () => {
    const none = () => undefined
    const health = openHealth({ error: none, info: none })
    await open(health)
    const isTooLong = (error: unknown) => error instanceof ReadTooExpensive && error.limit === 'time'
    await assert.rejects(clickHouse.reader.query(SLOW), isTooLong)
    await assert.rejects(clickHouse.reader.stream(SLOW)[Symbol.asyncIterator]().next(), isTooLong)
    assert.equal(health.reason('reads'), undefined)
    await untilRunning('sipHash64', (queries) => queries === 0)
  })

  it('is streamed without parameters', async () => {
    await open()
    let bytes = 0
    for await (const chunk of clickHouse.reader.stream('SELECT number FROM numbers(1000)'))
      bytes += chunk.length
    assert.ok(bytes > 8000)
  })

  it('is cancelled when the client of the API leaves', async () => {
    const url = await open()
    service = await startTestService({}, () => openClickHouseServer(url))
    const project_id = 'default/abandoned'
    const start = {
      project_id,
      id: 'a',
      op_name: 'op',
      started_at: '2026-01-01T00:00:00Z',
      attributes: {},
      inputs: {},
    }
    assert.equal((await service.post('/call/start', { start })).status, 200)
    assert.equal((await service.in(project_id).calls.query()).status, 200)
    await server.ask(
      `INSERT INTO ${new URL(url).pathname.slice(1)}.calls (project_id, id, started_position, inputs)
      SELECT '${project_id}', toString(number), 1, concat('{"text":"', repeat('some text ', 200), '"}') FROM numbers(100000)`,
    )
    const text = { $getField: 'inputs.text' }
    const $or = Array.from({ length: 50 }, (_, i) => ({
      $contains: { input: text, substr: { $literal: `abandoned ${i}` } },
    }))
    const query = { $expr: { $or } }
    for (const path of ['/calls/query_stats', '/calls/stream_query', '/trace/usage']) {
      const leaving = new AbortController()
      const gone = assert.rejects(service.post(path, { project_id, query }, { signal: leaving.signal }), {
        name: 'AbortError',
      })
      await untilRunning('abandoned', (queries) => queries > 0)
      leaving.abort()
      await gone
      await untilRunning('abandoned', (queries) => queries === 0)
    }
    assert.equal((await service.send('GET', '/health')).text, '{"status":"ok"}')
  })
})
