import assert from 'node:assert/strict'
import { startRunningService, type RunningService } from '../support/running-service.js'

const WRITERS = 8

describe('the program', () => {
  let service: RunningService
  before(async () => (service = await startRunningService()))
  after(() => service.remove())

  const project_id = 'team/restarted'
  const recorded = async () => {
    const lines = await service
      .in(project_id)
      .calls.stream({ columns: ['id'] })
      .lines()
    return lines.map(({ id }) => id as string).sort()
  }
  /** The ids of the calls that were acknowledged before the service ended. */
  const writeUntilGone = async (writer: number): Promise<string[]> => {
    const acknowledged: string[] = []
    for (;;) {
      const id = `call-${writer}-${acknowledged.length}`
      const answer = await service
        .in(project_id)
        .calls.start({ id })
        .catch(() => undefined)
      if (answer?.status !== 200) return acknowledged
      acknowledged.push(id)
    }
  }
  let calls: string[]

  it('stops once and in order when it gets several signals, and has every acknowledged call afterwards', async () => {
    const writing = Array.from({ length: WRITERS }, (_, writer) => writeUntilGone(writer))
    await recorded()
    const [ended] = await Promise.all([
      service.kill('SIGTERM'),
      service.kill('SIGINT'),
      service.kill('SIGTERM'),
      service.kill('SIGINT'),
    ])
    calls = (await Promise.all(writing)).flat().sort()
    await service.restart()
    assert.deepEqual(ended, { code: 0, signal: null })
    assert.deepEqual(await recorded(), calls)
  })

  it('has every call that it acknowledged when it is killed', async () => {
    assert.equal((await service.in(project_id).calls.start({ id: 'last' })).status, 200)
    assert.deepEqual(await service.kill('SIGKILL'), { code: null, signal: 'SIGKILL' })
    await service.restart()
    assert.deepEqual(await recorded(), [...calls, 'last'].sort())
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
