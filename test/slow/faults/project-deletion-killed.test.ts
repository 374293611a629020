import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { COUNTS } from '../../counts.js'
import { tallytree } from '../../support/command.js'
import { readAgain } from '../../support/faults/read-again.js'
import { foundIn, planted } from '../../support/planted-texts.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'

const KILLS = COUNTS.erasureKills
const TEAM = 'default'
const PROJECT = `${TEAM}/doomed`
const CALLS_A_BATCH = 250
const BATCHES = 8
const CALLS = CALLS_A_BATCH * BATCHES
const MAX_WAIT_MS = 700

describe('the deletion of a project under kill -9', () => {
  let service: RunningService
  before(async () => (service = await startRunningService()))
  after(() => service.remove())

  const read = (method: string, path: string, body?: unknown) => readAgain(service, method, path, body)
  const secrets = { call: planted('call'), object: planted('object') }
  const found = () => foundIn([service.dataDirectory], Object.values(secrets))

  it(`finishes after ${KILLS} kills, with every call in the receipts once`, async () => {
    for (let batch = 0; batch < BATCHES; batch += 1) {
      const calls = Array.from({ length: CALLS_A_BATCH }, (_, i) => ({
        ...{ id: `c-${batch}-${i}`, trace_id: `t-${batch}`, inputs: { text: `${i} ${secrets.call}` } },
        summary: { usage: { small: { requests: 1, prompt_tokens: i } } },
      }))
      await service.in(PROJECT).calls.complete(calls).json()
    }
    await service.in(PROJECT).objects.create('prompt', { text: secrets.object }).json()
    const usage = () => read('POST', '/usage/query', { team: TEAM, group_by: ['model'] })
    const before = await usage()
    await service.restart()
    assert.deepEqual(found(), Object.values(secrets).sort())

    const { erasure } = await read('DELETE', `/api/projects/${PROJECT}`)
    const path = `/api/projects/${PROJECT}/erasures/${(erasure as { id: string }).id}`
    for (let kill = 0; kill < KILLS; kill += 1) {
      await sleep(Math.random() * MAX_WAIT_MS)
      await service.kill('SIGKILL')
      await service.restart()
    }
    let receipt: JsonObject
    while ((receipt = await read('GET', path))['state'] !== 'finished') await sleep(100)

    // Also an object and the request itself.
    const { calls, events } = receipt
    assert.deepEqual({ calls, events }, { calls: CALLS, events: 2 * CALLS + 2 })
    assert.deepEqual(await usage(), before)
    assert.equal((await service.in(PROJECT).calls.query({})).status, 404)
    assert.deepEqual(found(), [])
    await service.kill('SIGKILL')
    const { code, stdout, stderr } = await tallytree(['verify', service.dataDirectory])
    assert.equal(code, 0, `${stdout}${stderr}`)
  })
})
