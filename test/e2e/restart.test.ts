import assert from 'node:assert/strict'
import { startRunningService, type RunningService } from '../support/running-service.js'

describe('the program', () => {
  let service: RunningService
  before(async () => (service = await startRunningService()))
  after(() => service.remove())

  const project_id = 'team/restarted'
  const startCall = async (id: string) => {
    const start = { id, op_name: 'op', started_at: '2026-01-01T12:00:00Z', attributes: {}, inputs: {} }
    const answer = await service.post('/call/start', { start: { project_id, ...start } })
    assert.equal(answer.status, 200, answer.text)
  }
  const recorded = async () => {
    const { text } = await service.post('/calls/stream_query', { project_id, columns: ['id'] })
    return [...text.matchAll(/"id":"(\w+)"/g)].map((match) => match[1])
  }

  it('stops on SIGTERM with exit code 0, and has every call when it is started again', async () => {
    await startCall('first')
    assert.equal(await service.stop(), 0)
    await service.restart()
    assert.deepEqual(await recorded(), ['first'])
  })

  it('has every call that it acknowledged when it is killed', async () => {
    await startCall('second')
    assert.deepEqual(await service.kill('SIGKILL'), { code: null, signal: 'SIGKILL' })
    await service.restart()
    assert.deepEqual(await recorded(), ['first', 'second'])
  })

  it('shows the key at the first start only', () => {
    const lines = service.output().split('\n')
    assert.deepEqual(
      lines.filter((line) => line.startsWith('Tallytree is ready')),
      [
        `Tallytree is ready at ${service.address}, administrator's API key (shown this once): <key>`,
        `Tallytree is ready at ${service.address}`,
        `Tallytree is ready at ${service.address}`,
      ],
    )
  })
})
