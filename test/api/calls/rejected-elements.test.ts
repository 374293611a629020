import assert from 'node:assert/strict'
import { openEventStoreDb } from '../../../src/adapters/event-store/eventstoredb/event-store-db.js'
import { openInMemoryBlobStore } from '../../../src/adapters/blobs/in-memory-blob-store.js'
import { sha256 } from '../../../src/adapters/system/system.js'
import { recordRejected } from '../../../src/application/calls/rejected-elements.js'
import { idsIn } from '../../contract/event-store/collect.js'
import { startProtocolDouble } from '../../support/eventstoredb-protocol-double/double.js'
import { PATIENT } from '../../support/eventstoredb-protocol-double/patient.js'

const cause = { correlationId: 'c', causationId: 'c', actor: 'ada' }

describe('rejected elements over an EventStoreDB (a protocol double)', () => {
  it('are stored once when the same batch is sent again, also concurrently and after a restart', async () => {
    const double = await startProtocolDouble()
    const eventStore = await openEventStoreDb(double.url, PATIENT)
    const blobs = openInMemoryBlobStore()
    const record = recordRejected({ eventStore, blobs, sha256 })
    const rejected = Array.from({ length: 20 }, (_, index) => ({
      project_id: 'team/project',
      problem: { loc: ['body', 'batch', index], type: 'missing', msg: 'Field required' },
      raw: { number: index },
    }))
    await record(rejected, cause)

    await double.restart()
    await record(rejected, cause)
    await Promise.all([record(rejected, cause), record(rejected, cause)])

    assert.equal((await idsIn(eventStore.readAll())).length, 20)
    await eventStore.close()
    await double.stop()
  })
})
