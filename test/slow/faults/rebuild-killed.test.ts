import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../../src/domain/json/json.js'
import { COUNTS } from '../../counts.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'
import { until } from '../../support/until.js'

const ROUNDS = COUNTS.rebuildKills
const BATCHES = 20
const CALLS_A_BATCH = 500
const PROJECT = 'default/rebuilt'

describe('a rebuild under kill -9', () => {
  let service: RunningService
  before(async () => {
    service = await startRunningService()
    for (let batch = 0; batch < BATCHES; batch += 1)
      await service.post('/v2/default/rebuilt/calls/complete', { batch: callsOf(batch) })
  })
  after(() => service.remove())

  const callsOf = (batch: number) =>
    Array.from({ length: CALLS_A_BATCH }, (_, i) => ({
      project_id: PROJECT,
      id: `c-${batch}-${i}`,
      trace_id: `trace-${batch}`,
      parent_id: i === 0 ? null : `c-${batch}-${Math.floor(i / 2)}`,
      op_name: 'work',
      started_at: '2026-01-01T00:00:00Z',
      ended_at: '2026-01-01T00:00:01Z',
      attributes: {},
      inputs: { text: 'x'.repeat(500) },
      summary: { usage: { small: { requests: 1, prompt_tokens: i } } },
    }))

  /** Asks until it can be read. */
  const read = async (method: string, path: string, body?: unknown): Promise<JsonObject> => {
    for (let tries = 0; ; tries += 1) {
      const { status, text } = await service.send(method, path, body)
      if (status === 200) return JSON.parse(text) as JsonObject
      assert.ok(status === 503 && tries < 120, `${path} answers ${status}: ${text.slice(0, 300)}`)
      await sleep(250)
    }
  }

  const stateOf = async (id: string) => (await read('GET', `/api/admin/rebuilds/${id}`))['state'] as string
  const digests = () => read('GET', '/api/admin/digests')
  const usage = () => read('POST', '/trace/usage', { project_id: PROJECT, limit: 100_000 })

  it(`goes on where it was, and ends with the same digests and answers, ${ROUNDS} times`, async () => {
    const before = await digests()
    const answered = await usage()
    const killedIn: string[] = []

    for (let round = 0; round < ROUNDS; round += 1) {
      const { id } = (await read('POST', '/api/admin/rebuilds')) as { id: string }
      for (let kills = 0; kills < 3; kills += 1) {
        await sleep(Math.random() * 1500)
        killedIn.push(await stateOf(id))
        await service.kill('SIGKILL')
        await service.restart()
      }
      await until(async () => ['finished', 'failed'].includes(await stateOf(id)))

      const { state, changed_models } = await read('GET', `/api/admin/rebuilds/${id}`)
      assert.deepEqual({ state, changed_models }, { state: 'finished', changed_models: [] })
      assert.deepEqual((await digests())['models'], before['models'])
      assert.deepEqual(await usage(), answered)
    }

    assert.equal(await service.stop(), 0)
    console.log(`      killed while it was ${killedIn.join(', ')}`)
  })
})
