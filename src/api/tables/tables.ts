import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { ProjectWrites } from '../route-kinds.js'
import type { TablePorts } from './publish.js'

export interface Tables extends ProjectWrites {
  readonly ports: TablePorts
  readonly reader: ClickHouseReader
}
