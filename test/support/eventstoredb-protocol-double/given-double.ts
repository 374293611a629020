import { openEventStoreDb } from '../../../src/adapters/event-store/eventstoredb/event-store-db.js'
import type { EventStore } from '../../../src/kernel/ports/event-store.js'
import { startProtocolDouble, type ProtocolDouble } from './double.js'
import { PATIENT } from './patient.js'

interface GivenDouble {
  readonly double: ProtocolDouble
  readonly store: EventStore
  /** Another store over the double, whose appends may take this long. */
  readonly storeWith: (appendMs: number) => Promise<EventStore>
}

/** A double and the adapter over it, new for each test of a suite. */
export const givenDouble = (): GivenDouble => {
  const given = {} as { -readonly [Key in keyof GivenDouble]: GivenDouble[Key] }
  let others: EventStore[]
  beforeEach(async () => {
    others = []
    given.double = await startProtocolDouble()
    given.store = await openEventStoreDb(given.double.url, PATIENT)
    given.storeWith = async (appendMs) => {
      const store = await openEventStoreDb(given.double.url, { appendMs })
      others.push(store)
      return store
    }
  })
  afterEach(async () => {
    for (const store of [given.store, ...others]) await store.close()
    await given.double.stop()
  })
  return given
}
