import assert from 'node:assert/strict'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { COUNTS } from '../../counts.js'
import { tallytree } from '../../support/command.js'
import { CALLS_A_BATCH, writeSteadily } from '../../support/faults/write-steadily.js'
import { scratchDirectory } from '../../support/scratch.js'
import { readAgain } from '../../support/faults/read-again.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'

const ROUNDS = COUNTS.rebuildKills
const KILLS_A_ROUND = 2
const PROJECT = 'default/rebuilt'
const BATCHES_BEFORE = 100
const MAX_WAIT_MS = 2000
const MAX_EXCHANGE_MS = 40

describe('a rebuild under kill -9', () => {
  let service: RunningService
  before(async () => (service = await startRunningService()))
  after(() => service.remove())

  const read = (method: string, path: string, body?: unknown) => readAgain(service, method, path, body)

  const stateOf = async (id: string) => (await read('GET', `/api/admin/rebuilds/${id}`))['state'] as string
  const exchanges = () => service.output().split('"event":"rebuild.exchanging"').length

  /** Every other kill is at a random moment, the others while tables are exchanged. */
  const killAtSomeMoment = async (id: string, isExchanging: boolean): Promise<string> => {
    const before = exchanges()
    const giveUpAt = performance.now() + 30_000
    if (isExchanging) while (exchanges() === before && performance.now() < giveUpAt) await sleep(1)
    await sleep(Math.random() * (isExchanging ? MAX_EXCHANGE_MS : MAX_WAIT_MS))
    await service.kill('SIGKILL')
    await service.restart()
    return stateOf(id)
  }

  /** Copies the log, projects the copy and compares the digests of all read models. */
  const assertSameAsLog = async () => {
    const copy = join(await scratchDirectory(), 'copy')
    const key = { TALLYTREE_API_KEY: service.key }
    const replayed = await tallytree(['replay', '--from', service.address, '--to', copy], key)
    assert.equal(replayed.code, 0, replayed.stderr)
    const verified = await tallytree(['verify', copy, '--against', service.address], key)
    assert.equal(verified.code, 0, verified.stdout + verified.stderr)
    assert.match(verified.stdout, /all equal/)
  }

  it(`ends with the rows of the log, whatever was written meanwhile, ${ROUNDS} times`, async () => {
    const writer = writeSteadily(service, PROJECT)
    while (writer.written() < BATCHES_BEFORE * CALLS_A_BATCH) await sleep(100)
    const states: string[] = []

    for (let round = 0; round < ROUNDS; round += 1) {
      const { id } = (await read('POST', '/api/admin/rebuilds')) as { id: string }
      for (let kill = 0; kill < KILLS_A_ROUND; kill += 1)
        states.push(await killAtSomeMoment(id, (round + kill) % 2 === 0))
      while (!['finished', 'failed'].includes(await stateOf(id))) await sleep(50)
      assert.equal(await stateOf(id), 'finished')
    }
    await writer.stop()

    const { count } = await read('POST', '/calls/query_stats', { project_id: PROJECT })
    assert.equal(count, writer.written())
    const { call_usage } = await read('POST', '/trace/usage', { project_id: PROJECT, limit: 1_000_000 })
    assert.equal(Object.keys(call_usage as object).length, writer.written())
    await assertSameAsLog()
    assert.equal(await service.stop(), 0)
    console.log(`      after each kill: ${states.join(', ')}`)
  })
})
