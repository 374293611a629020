import { openEventStoreDb } from '../../../src/adapters/event-store/eventstoredb/event-store-db.js'
import { eventStoreContract } from './event-store-contract.js'
import { startProtocolDouble } from '../../support/eventstoredb-protocol-double/double.js'
import { PATIENT } from '../../support/eventstoredb-protocol-double/patient.js'

eventStoreContract('the store in EventStoreDB, over a protocol double,', async () => {
  const double = await startProtocolDouble()
  const store = await openEventStoreDb(double.url, PATIENT)
  const impatient = await openEventStoreDb(double.url, { appendMs: 1900 })
  return {
    store,
    impatient,
    restart: async () => {
      await double.restart()
      return store
    },
    loseNextAnswer: () => (double.misbehaviour.swallowAnswers = 1),
    dispose: async () => {
      await store.close()
      await impatient.close()
      await double.stop()
    },
  }
})

// A server of one's own, which may hold events of others: the tests name their streams at random.
const url = process.env['EVENTSTORE_URL']
if (url !== undefined)
  eventStoreContract('the store in the EventStoreDB of EVENTSTORE_URL', async () => {
    const store = await openEventStoreDb(url)
    return { store, dispose: () => store.close() }
  })
