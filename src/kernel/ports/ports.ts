import type { BlobStore } from './blobs.js'
import type { Clock, Ids } from './clock.js'
import type { EventStore } from './event-store.js'
import type { Sha256 } from './sha256.js'

/** All ports. Each function takes a `Pick` of the ones it uses. */
export interface Ports {
  readonly eventStore: EventStore
  readonly blobs: BlobStore
  readonly clock: Clock
  readonly ids: Ids
  readonly sha256: Sha256
}
