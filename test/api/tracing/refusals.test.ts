import assert from 'node:assert/strict'
import { openEventStoreDb } from '../../../src/adapters/event-store/eventstoredb/event-store-db.js'
import { openInMemoryBlobStore } from '../../../src/adapters/blobs/in-memory-blob-store.js'
import { sha256 } from '../../../src/adapters/system/system.js'
import { recordRefusals } from '../../../src/api/tracing/refusals.js'
import { idsIn } from '../../contract/event-store/collect.js'
import { startProtocolDouble } from '../../support/eventstoredb-protocol-double/double.js'
import { PATIENT } from '../../support/eventstoredb-protocol-double/patient.js'

const cause = { correlationId: 'c', causationId: 'c', actor: 'ada' }

describe('refused elements over an EventStoreDB (a protocol double)', () => {
  it('are kept once when the same batch comes again, also after a restart and at once', async () => {
    const double = await startProtocolDouble()
    const eventStore = await openEventStoreDb(double.url, PATIENT)
    const blobs = openInMemoryBlobStore()
    const record = recordRefusals({ eventStore, blobs, sha256 })
    const refusals = Array.from({ length: 20 }, (_, index) => ({
      project_id: 'team/project',
      problem: { loc: ['body', 'batch', index], type: 'missing', msg: 'Field required' },
      text: `{"number":${index}}`,
    }))
    await record(refusals, cause)

    await double.restart()
    await record(refusals, cause)
    await Promise.all([record(refusals, cause), record(refusals, cause)])

    assert.equal((await idsIn(eventStore.readAll())).length, 20)
    await eventStore.close()
    await double.stop()
  })
})
