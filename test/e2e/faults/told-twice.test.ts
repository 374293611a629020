import assert from 'node:assert/strict'
import { startRunningService, type RunningService } from '../../support/running-service.js'

const WRITERS = 8

describe('a service that is told to stop more than once', () => {
  let service: RunningService
  before(async () => (service = await startRunningService()))
  after(() => service.remove())

  /** Writes until the service is gone; what was taken. */
  const write = async (writer: number): Promise<string[]> => {
    const taken: string[] = []
    for (;;) {
      const id = `call-${writer}-${taken.length}`
      const started_at = '2026-01-01T12:00:00Z'
      const start = { project_id: 'default/twice', id, op_name: 'op', started_at, attributes: {}, inputs: {} }
      const answer = await service.post('/call/start', { start }).catch(() => undefined)
      if (answer?.status !== 200) return taken
      taken.push(id)
    }
  }

  it('stops once, in order, with all that it took', async () => {
    const writing = Array.from({ length: WRITERS }, (_, writer) => write(writer))
    await service.post('/calls/query_stats', { project_id: 'default/twice' })
    const [ended] = await Promise.all([
      service.kill('SIGTERM'),
      service.kill('SIGINT'),
      service.kill('SIGTERM'),
      service.kill('SIGINT'),
    ])
    const taken = (await Promise.all(writing)).flat()
    await service.restart()
    const { text } = await service.post('/calls/query_stats', { project_id: 'default/twice' })

    assert.deepEqual(ended, { code: 0, signal: null })
    assert.equal((JSON.parse(text) as { count: number }).count, taken.length)
  })
})
