import type { BlobStore } from './blobs.js'
import type { Clock, Ids } from './clock.js'
import type { EventStore } from './event-store.js'
import type { Sha256 } from './sha256.js'

/** Everything the domain asks of the world; each function takes the `Pick` that it uses. */
export interface Ports {
  readonly eventStore: EventStore
  readonly blobs: BlobStore
  readonly clock: Clock
  readonly ids: Ids
  readonly sha256: Sha256
}
