import type { BlobStore } from '../../domain/ports/blobs.js'
import type { ClickHouseWriter } from '../../domain/ports/clickhouse.js'
import type { EventStore } from '../../domain/ports/event-store.js'
import type { Log } from '../../domain/ports/log.js'
import type { Projection } from '../projection.js'

/** What a projector works with. */
export interface Projecting {
  readonly eventStore: Pick<EventStore, 'subscribeAll' | 'readStream'>
  readonly blobs: BlobStore
  readonly clickHouse: ClickHouseWriter
  readonly projections: readonly Projection[]
  readonly log: Log
  /** Before the first rows: false while the log is empty. Throws where the database belongs to another log. */
  readonly noteSource?: () => Promise<boolean>
  /** How often the checkpoint is written at most; seldom where it is read only at the next start. */
  readonly checkpointMs?: number
  /** How long a batch waits for company; longer where readers in the same process can hurry it. */
  readonly gatherMs?: number
}
