import assert from 'node:assert/strict'
import { startRunningService, type RunningService } from '../../support/running-service.js'
import { callIdsOnceRead } from '../../support/faults/call-ids.js'

const PROJECT = 'default/memory'
const MUCH = 'much'.repeat(25_000)

describe('a service that runs out of memory', () => {
  let service: RunningService
  before(async () => (service = await startRunningService({ NODE_OPTIONS: '--max-old-space-size=192' })))
  after(() => service.remove())

  const write = (batch: string, calls: number, text: string) => {
    const started = Array.from({ length: calls }, (_, n) => ({
      start: { id: `${batch}-${n}`, inputs: { text } },
    }))
    return service.in(PROJECT).calls.batch(started)
  }

  it('ends at once, and has what it took when it is started again', async () => {
    assert.equal((await write('kept', 2, 'little')).status, 200)
    const taken = ['kept-0', 'kept-1']
    const writing = Array.from({ length: 12 }, async (_, n) => {
      const answer = await write(`much-${n}`, 100, MUCH).catch(() => undefined)
      if (answer?.status === 200) for (let call = 0; call < 100; call += 1) taken.push(`much-${n}-${call}`)
    })
    await Promise.all(writing)
    const { signal } = await service.kill('SIGCONT')
    await service.restart({ NODE_OPTIONS: '' })
    const known = new Set(await callIdsOnceRead(service, PROJECT))

    assert.equal(signal, 'SIGABRT')
    assert.deepEqual(
      taken.filter((id) => !known.has(id)),
      [],
    )
  })
})
