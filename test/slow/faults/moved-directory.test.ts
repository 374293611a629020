import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRunningService, type RunningService } from '../../support/running-service.js'
import { callIdsOnceRead } from '../../support/faults/call-ids.js'

const PROJECT = 'default/moved'
/** So much goes into a blob. */
const MUCH = 400_000

const madeAnew = (error: unknown): boolean =>
  ['ENOTEMPTY', 'EEXIST'].includes(String((error as NodeJS.ErrnoException).code))

/** Again and again: an engine at work makes its own folders anew where they were, also while they are being removed. */
const putBack = async (elsewhere: string, place: string): Promise<void> => {
  for (let there = false; !there;)
    try {
      await rm(place, { recursive: true, force: true })
      await rename(elsewhere, place)
      there = true
    } catch (error) {
      if (!madeAnew(error)) throw error
    }
}

describe('a service whose data directory is moved under it', () => {
  let service: RunningService
  before(async () => (service = await startRunningService()))
  after(() => service.remove())

  const start = (id: string, bytes: number) => ({
    project_id: PROJECT,
    id,
    op_name: 'op',
    started_at: '2026-01-01T12:00:00Z',
    attributes: {},
    inputs: { text: randomBytes(bytes / 2).toString('hex') },
  })

  /** The ids of those that were taken; the others are refused for now. */
  const write = async (name: string): Promise<string[]> => {
    const taken: string[] = []
    for (const bytes of [100, MUCH, 100, MUCH]) {
      const id = `${name}-${taken.length}-${bytes}`
      const { status, text, headers } = await service.post('/call/start', { start: start(id, bytes) })
      if (status === 200) taken.push(id)
      else assert.deepEqual([status, headers.get('retry-after')], [503, '1'], text)
    }
    return taken
  }

  it('takes nothing while it is away, says so, and goes on when it is back', async () => {
    const { dataDirectory } = service
    const elsewhere = join(tmpdir(), `${randomBytes(8).toString('hex')}-moved`)
    const before = await write('before')
    // Nothing of it is still to be written into the read models.
    assert.deepEqual(await callIdsOnceRead(service, PROJECT), before.toSorted())
    await rename(dataDirectory, elsewhere)
    const meanwhile = await write('meanwhile')
    const health = (await service.send('GET', '/health')).text
    await putBack(elsewhere, dataDirectory)
    const afterwards = await write('afterwards')
    const taken = [...before, ...meanwhile, ...afterwards].sort()

    assert.deepEqual([before.length, meanwhile.length, afterwards.length], [4, 0, 4])
    assert.match(health, /"writes":"the event log does not accept writes \(ENOENT\)"/)
    assert.doesNotMatch((await service.send('GET', '/health')).text, /writes/)
    assert.deepEqual(await callIdsOnceRead(service, PROJECT), taken)
    await service.restart()
    assert.deepEqual(await callIdsOnceRead(service, PROJECT), taken)
  })
})
