import assert from 'node:assert/strict'
import {
  describeWithClickHouseServer,
  freePort,
  startClickHouseServer,
  type ClickHouseServer,
} from '../support/clickhouse-server.js'
import { startRunningService, type RunningService } from '../support/running-service.js'
import { until } from '../support/until.js'

const PROJECT = 'default/early'

describeWithClickHouseServer('the program, started before its ClickHouse server', () => {
  let server: ClickHouseServer | undefined
  let service: RunningService
  afterEach(async () => {
    await service.remove()
    await server?.stop()
  })

  const health = async () => (await service.send('GET', '/health', undefined, { key: null })).text
  const write = (id: string) =>
    service.post('/call/start', {
      start: {
        project_id: PROJECT,
        id,
        op_name: 'op',
        started_at: '2026-01-01T00:00:00Z',
        inputs: {},
        attributes: {},
      },
    })
  const read = (headers: Record<string, string> = {}) =>
    service.with({ headers }).send('POST', '/calls/query', { project_id: PROJECT })

  it('takes writes, says that it is degraded, refuses reads, and is right once the server is there', async () => {
    const port = await freePort()
    service = await startRunningService({ CLICKHOUSE_URL: `http://127.0.0.1:${port}/early` })
    for (const id of ['one', 'two']) assert.equal((await write(id)).status, 200)
    assert.match(await health(), /"degraded".*ClickHouse cannot be reached \(ECONNREFUSED\)/)
    assert.equal((await read()).status, 503)
    assert.equal((await read({ 'tallytree-stale': 'allow' })).status, 503)
    assert.match(service.output(), /clickhouse\.waiting.*CLICKHOUSE_URL, http:\/\/127\.0\.0\.1:\d+ as user/)

    server = await startClickHouseServer({ port })
    await until(async () => (await read()).status === 200)
    const { calls } = JSON.parse((await read()).text) as { calls: { id: string }[] }
    assert.deepEqual(
      calls.map(({ id }) => id),
      ['one', 'two'],
    )
    await until(async () => (await health()) === '{"status":"ok"}')
    assert.equal(await service.stop(), 0)
  })

  it('stops while the server is away, and loses nothing', async () => {
    const port = await freePort()
    service = await startRunningService({ CLICKHOUSE_URL: `http://127.0.0.1:${port}/early` })
    assert.equal((await write('one')).status, 200)
    assert.equal(await service.stop(), 0)
    server = await startClickHouseServer({ port })
    await service.restart()
    assert.match((await read()).text, /"one"/)
  })
})
