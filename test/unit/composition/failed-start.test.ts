import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { openInMemoryBlobStore } from '../../../src/adapters/blobs/in-memory-blob-store.js'
import { openInMemoryEventStore } from '../../../src/adapters/event-store/in-memory.js'
import { openInMemorySecretStore } from '../../../src/adapters/secrets/in-memory-secret-store.js'
import { openHealth } from '../../../src/application/health.js'
import { startService } from '../../../src/composition/service.js'
import { readConfig } from '../../../src/config.js'
import type { Log } from '../../../src/kernel/ports/log.js'
import { openTestClickHouse } from '../../support/engine.js'
import { scratchDirectory } from '../../support/scratch.js'

const quiet: Log = { info: () => undefined, warn: () => undefined, error: () => undefined }

describe('a start that does not succeed', () => {
  it('leaves nothing at work in the engine, which would keep the process from ending', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const clickHouse = await openTestClickHouse()
    let closed = 0
    const close = async () => {
      closed += 1
      await clickHouse.close()
    }
    const stores = {
      eventStore: openInMemoryEventStore(),
      blobs: openInMemoryBlobStore(),
      secrets: openInMemorySecretStore(),
      health: openHealth(quiet),
      clickHouse: { ...clickHouse, close },
    }
    const config = readConfig({
      TALLYTREE_DATA_DIR: await scratchDirectory(),
      TALLYTREE_PORT: String((taken.address() as AddressInfo).port),
    })
    await assert.rejects(startService(config, stores, quiet), { name: 'OperatorError' })
    taken.close()

    assert.equal(closed, 1)
  })
})
