import type { Ports } from '../../domain/ports/ports.js'
import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Teams } from '../projects/access.js'
import type { Reading } from '../reading.js'

/** What the routes of objects stand on. */
export interface Objects {
  readonly ports: Pick<Ports, 'eventStore' | 'blobs' | 'ids' | 'sha256' | 'clock'>
  readonly teams: Teams
  readonly reading: Reading
  readonly reader: ClickHouseReader
  /** Delays a write while the read side is too far behind. */
  readonly throttle: () => Promise<void>
}
