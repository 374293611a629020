import assert from 'node:assert/strict'
import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { scratchDirectory } from '../../support/scratch.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'
import { callIdsOnceRead } from '../../support/faults/call-ids.js'

const PROJECT = 'default/earlier'

describe('a service whose log is another than the one that its read models were made from', () => {
  let service: RunningService
  before(async () => (service = await startRunningService()))
  after(() => service.remove())

  const write = async (...ids: readonly string[]) => {
    for (const id of ids) await service.in(PROJECT).calls.start({ id }).json()
    return callIdsOnceRead(service, PROJECT)
  }

  /** The log, and what was signed of it. */
  const copyLog = async (from: string, to: string) => {
    for (const name of ['events.db', 'log-tree.db', 'log-keys']) await cp(join(from, name), join(to, name))
  }

  const told = (event: string) => service.output().split(`"event":"projection.${event}"`).length - 1

  it('which was restored to an earlier state, shows what that has, and what comes, and says so once', async () => {
    const kept = await scratchDirectory()
    await write('call-1')
    await service.stop()
    await copyLog(service.dataDirectory, kept)
    await service.restart()
    assert.deepEqual(await write('call-2', 'call-3'), ['call-1', 'call-2', 'call-3'])
    await service.stop()
    assert.equal(told('log_shorter_than_checkpoint'), 0)
    await copyLog(kept, service.dataDirectory)
    await service.restart()

    assert.deepEqual(await callIdsOnceRead(service, PROJECT), ['call-1'])
    assert.deepEqual(await write('call-4'), ['call-1', 'call-4'])
    await service.restart()
    assert.deepEqual(await callIdsOnceRead(service, PROJECT), ['call-1', 'call-4'])
    assert.equal(told('log_shorter_than_checkpoint'), 1)
  })

  it('which has as much of its own, shows what that has, and says so once', async () => {
    const kept = await scratchDirectory()
    const models = join(service.dataDirectory, 'clickhouse')
    await service.stop()
    await copyLog(service.dataDirectory, kept)
    await service.restart()
    assert.deepEqual(await write('call-5'), ['call-1', 'call-4', 'call-5'])
    await service.stop()
    await cp(models, join(kept, 'clickhouse'), { recursive: true })
    await copyLog(kept, service.dataDirectory)
    await service.restart()
    assert.deepEqual(await write('call-6', 'call-7'), ['call-1', 'call-4', 'call-6', 'call-7'])
    await service.stop()
    await rm(models, { recursive: true })
    await cp(join(kept, 'clickhouse'), models, { recursive: true })
    await service.restart()

    assert.deepEqual(await callIdsOnceRead(service, PROJECT), ['call-1', 'call-4', 'call-6', 'call-7'])
    await service.restart()
    assert.deepEqual(await callIdsOnceRead(service, PROJECT), ['call-1', 'call-4', 'call-6', 'call-7'])
    assert.equal(told('log_mismatch'), 1)
  })
})
