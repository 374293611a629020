import type { ClickHouseReader, Rows } from '../../src/domain/ports/clickhouse.js'

/** Where projections put rows and queries find them again. */
export interface Tables {
  readonly reader: ClickHouseReader
  readonly insert: (rows: Rows) => Promise<void>
}
