import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouse, Rows } from '../../../src/kernel/ports/clickhouse.js'
import { openTestClickHouse } from '../../support/engine.js'
import { startTestService, type TestService } from '../../support/service.js'
import { startGateway, type Gateway } from '../../support/upstreams/gateway.js'

/** Longer than the lag of the read side from which writes of traces are delayed. */
const LAGGING_MS = 900

describe('the recording of completions', () => {
  let service: TestService
  let gateway: Gateway
  let hold: Promise<void> | undefined

  const heldInserts = async (): Promise<ClickHouse> => {
    const clickHouse = await openTestClickHouse()
    const { writer } = clickHouse
    const insert = async (rows: Rows) => {
      await hold
      await writer.insert(rows)
    }
    return { ...clickHouse, writer: { ...writer, insert } }
  }

  before(async () => {
    service = await startTestService({}, heldInserts)
    gateway = await startGateway(service)
  })
  after(async () => {
    await service.stop()
    await gateway.upstream.close()
  })

  it('does not delay a completion while the read side lags behind trace ingest', async () => {
    let release = () => undefined
    hold = new Promise((resolve) => (release = resolve as typeof release))
    const startCall = () => {
      const started_at = new Date().toISOString()
      return service.in('acme/traced').calls.start({ trace_id: randomUUID(), started_at })
    }
    assert.equal((await startCall()).status, 200)
    await sleep(LAGGING_MS)

    const paced = startCall()
    const began = performance.now()
    const answer = await gateway.complete({}, { headers: { 'openai-project': 'acme/untraced' } })
    const tookMs = performance.now() - began
    release()
    assert.equal(answer.status, 200, answer.text)
    assert.equal((await paced).status, 200)
    assert.ok(tookMs < 1000, `took ${Math.round(tookMs)} ms`)
  })
})
