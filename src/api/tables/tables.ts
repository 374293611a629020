import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Teams } from '../projects/access.js'
import type { Reading } from '../reading.js'
import type { TablePorts } from './publish.js'

/** What the routes of tables stand on. */
export interface Tables {
  readonly ports: TablePorts
  readonly teams: Teams
  readonly reading: Reading
  readonly reader: ClickHouseReader
  /** Delays a write while the read side is too far behind. */
  readonly throttle: () => Promise<void>
}
