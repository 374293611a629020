import assert from 'node:assert/strict'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openSqliteEventStore } from '../../../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { arbitraryEvent, arbitraryStream } from '../../../contract/event-store/arbitrary-events.js'
import { temporaryDirectory, type TemporaryDirectory } from './temporary-directory.js'

const MEBIBYTE = 1_048_576

const usedHeap = () => {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

describe('a consumer that is slower than the writers', () => {
  let directory: TemporaryDirectory
  beforeEach(async () => {
    directory = await temporaryDirectory()
  })
  afterEach(() => directory.remove())

  it('keeps a page in memory, not the log', async () => {
    const store = openSqliteEventStore(join(directory.path, 'events.db'))
    const large = () => arbitraryEvent({ data: { text: 'x'.repeat(MEBIBYTE / 4) } })
    await store.append(arbitraryStream(), 'none', [large()])
    const before = usedHeap()
    let events = 0
    let most = 0

    for await (const { kind } of store.subscribeAll()) {
      if (kind !== 'event') continue
      events += 1
      if (events === 1)
        for (let i = 0; i < 200; i += 1) await store.append(arbitraryStream(), 'none', [large()])
      if (events % 20 === 1) most = Math.max(most, usedHeap() - before)
      if (events === 201) break
    }

    assert.ok(most < 16 * MEBIBYTE, `${most} bytes more than at the start`)
    await store.close()
  })
})
