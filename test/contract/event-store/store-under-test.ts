import type { EventStore } from '../../../src/kernel/ports/event-store.js'

/** A store with no events that a test may see, and what its adapter lets a test do to it. */
export interface StoreUnderTest {
  readonly store: EventStore
  /** The same log through a store that gives up its appends soon. */
  readonly impatient?: EventStore
  /** Stops what holds the events and starts it again; answers the store to go on with, which may be the same. */
  readonly restart?: () => Promise<EventStore>
  /** The next append is stored but its answer is lost. */
  readonly loseNextAnswer?: () => void
  readonly dispose: () => Promise<void>
}

export type OpenStore = () => Promise<StoreUnderTest>

/** The store of the running test. */
export type Opened = () => StoreUnderTest
