import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { COUNTS } from '../../counts.js'
import { readAgain } from '../../support/faults/read-again.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'

const KILLS = COUNTS.erasureKills
const PROJECT = 'default/erased'
const ERASURES = `/api/projects/${PROJECT}/erasures`
const CALLS_A_BATCH = 250
const BATCHES = 12
const CALLS = CALLS_A_BATCH * BATCHES
const MAX_WAIT_MS = 700

describe('an erasure under kill -9', () => {
  let service: RunningService
  before(async () => (service = await startRunningService()))
  after(() => service.remove())

  const read = (method: string, path: string, body?: unknown) => readAgain(service, method, path, body)
  const secret = `planted-${randomUUID()}`
  const filesWithSecret = (): readonly string[] =>
    readdirSync(service.dataDirectory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name, parentPath }) => join(parentPath, name))
      .filter((file) => readFileSync(file).includes(secret))

  it(`finishes after ${KILLS} kills, with every call in the receipt once`, async () => {
    for (let batch = 0; batch < BATCHES; batch += 1) {
      const calls = Array.from({ length: CALLS_A_BATCH }, (_, i) => ({
        ...{ id: `c-${batch}-${i}`, trace_id: `t-${batch}`, inputs: { text: `${secret} ${i}` } },
        summary: { usage: { small: { requests: 1, prompt_tokens: i } } },
      }))
      await service.in(PROJECT).calls.complete(calls).json()
    }
    const usage = () => read('POST', '/usage/query', { project_id: PROJECT, group_by: ['model'] })
    const before = await usage()
    await service.restart()
    assert.ok(filesWithSecret().length > 0)

    const request = { selection: { filter: {} }, reason: 'a test' }
    const { erasure } = await read('POST', ERASURES, request)
    const path = `${ERASURES}/${(erasure as { id: string }).id}`
    const states: unknown[] = []
    for (let kill = 0; kill < KILLS; kill += 1) {
      await sleep(Math.random() * MAX_WAIT_MS)
      await service.kill('SIGKILL')
      await service.restart()
      states.push((await read('GET', path))['state'])
    }
    while ((await read('GET', path))['state'] !== 'finished') await sleep(100)

    const { calls, events } = await read('GET', path)
    assert.deepEqual({ calls, events }, { calls: CALLS, events: 2 * CALLS })
    assert.deepEqual(await usage(), before)
    const listed = await service.in(PROJECT).calls.query({})
    assert.equal(listed.json<{ calls: JsonObject[] }>().calls.length, CALLS)
    assert.ok(!listed.text.includes(secret))
    const log = await service.send('GET', '/api/events?limit=10000')
    assert.ok(!log.text.includes(secret))
    assert.deepEqual(filesWithSecret(), [])
    console.log(`      after each kill: ${states.join(', ')}`)
  })
})
