import assert from 'node:assert/strict'
import { readdir, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { startRunningService, type RunningService } from '../../support/running-service.js'
import { callIdsOnceRead } from '../../support/faults/call-ids.js'

const PROJECT = 'default/broken'
const IDS = ['call-1', 'call-2', 'call-3']

describe('a service whose engine finds its files spoilt', () => {
  let service: RunningService
  before(async () => (service = await startRunningService()))
  after(() => service.remove())

  const spoilParts = async () => {
    const table = join(service.dataDirectory, 'clickhouse', 'data', 'tallytree', 'calls')
    for (const name of await readdir(table))
      if (name.startsWith('all_')) await truncate(join(table, name, 'data.cmrk4'), 0)
  }

  const broken = () =>
    service.output().match(/"event":"projection\.parts_broken".*tallytree rebuild/g)?.length

  it('says so at each start, and answers as before once the read models were made anew', async () => {
    for (const id of IDS) {
      const started_at = '2026-01-01T12:00:00Z'
      await service.in(PROJECT).calls.start({ id, started_at }).json()
    }
    assert.deepEqual(await callIdsOnceRead(service, PROJECT), IDS)
    assert.equal(broken(), undefined)
    await service.stop()
    await spoilParts()
    await service.restart()
    assert.equal(broken(), 1)

    const { id } = (await service.send('POST', '/api/admin/rebuilds')).json<{ id: string }>()
    while (!(await service.send('GET', `/api/admin/rebuilds/${id}`)).text.includes('"state":"finished"'));
    assert.deepEqual(await callIdsOnceRead(service, PROJECT), IDS)
    await service.restart()
    assert.equal(broken(), 1)
    assert.deepEqual(await callIdsOnceRead(service, PROJECT), IDS)
  })
})
