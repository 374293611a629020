import { openEventStoreDb } from '../../../src/adapters/event-store/eventstoredb/event-store-db.js'
import type { EventStore } from '../../../src/domain/ports/event-store.js'
import { startProtocolDouble, type ProtocolDouble } from './double.js'
import { patient } from './patient.js'

/** A double and the adapter over it, anew for each test of a suite. */
export const givenDouble = (): { readonly double: ProtocolDouble; readonly store: EventStore } => {
  const given = {} as { double: ProtocolDouble; store: EventStore }
  beforeEach(async () => {
    given.double = await startProtocolDouble()
    given.store = patient(await openEventStoreDb(given.double.url))
  })
  afterEach(async () => {
    await given.store.close()
    await given.double.stop()
  })
  return given
}
