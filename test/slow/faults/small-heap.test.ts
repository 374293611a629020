import assert from 'node:assert/strict'
import { startRunningService, type RunningService } from '../../support/running-service.js'
import { callIdsOnceRead } from '../../support/faults/call-ids.js'

const PROJECT = 'default/memory'
const MUCH = 'much'.repeat(25_000)

describe('a service with a small heap', () => {
  let service: RunningService
  before(async () => (service = await startRunningService({ NODE_OPTIONS: '--max-old-space-size=192' })))
  after(() => service.remove())

  it('outlives bodies that would fill it, and keeps what it took', async () => {
    const taken: string[] = []
    const answers = await Promise.all(
      Array.from({ length: 30 }, async (_, batch) => {
        const started = Array.from({ length: 100 }, (_, n) => ({
          start: { id: `${batch}-${n}`, inputs: { text: MUCH } },
        }))
        const answer = await service.in(PROJECT).calls.batch(started)
        if (answer.status === 200) taken.push(...started.map(({ start }) => start.id))
        return answer.status
      }),
    )
    const small = await service.in(PROJECT).calls.batch([{ start: { id: 'small', inputs: {} } }])
    await service.kill('SIGKILL')
    await service.restart()
    const known = new Set(await callIdsOnceRead(service, PROJECT))

    assert.equal(small.status, 200)
    assert.notEqual(taken.length, 0)
    assert.deepEqual(
      answers.filter((status) => status !== 200 && status !== 503),
      [],
    )
    assert.deepEqual(
      taken.filter((id) => !known.has(id)),
      [],
    )
  })
})
