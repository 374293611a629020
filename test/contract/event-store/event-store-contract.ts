import { appending } from './appending.js'
import { erasing } from './erasing.js'
import { laws } from './laws.js'
import { reading } from './reading.js'
import { refusing } from './refusing.js'
import { repeating } from './repeating.js'
import { restarting } from './restarting.js'
import { roundTrip } from './round-trip.js'
import type { OpenStore, StoreUnderTest } from './store-under-test.js'
import { subscribing } from './subscribing.js'

/** What every adapter of the event store keeps; `open` is called for each test. */
export const eventStoreContract = (name: string, open: OpenStore): void => {
  describe(`${name} keeps the contract of the event store`, () => {
    let current: StoreUnderTest | undefined
    const opened = () => {
      if (current === undefined) throw new Error('the store is opened before each test')
      return current
    }
    beforeEach(async () => {
      current = await open()
    })
    afterEach(async () => {
      await current?.dispose()
      current = undefined
    })

    for (const topic of [
      appending,
      repeating,
      roundTrip,
      reading,
      subscribing,
      refusing,
      restarting,
      erasing,
      laws,
    ])
      topic(opened)
  })
}
