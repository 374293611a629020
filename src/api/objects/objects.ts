import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Ports } from '../../domain/ports/ports.js'
import type { ProjectWrites } from '../route-kinds.js'

export interface Objects extends ProjectWrites {
  readonly ports: Pick<Ports, 'eventStore' | 'blobs' | 'ids' | 'sha256' | 'clock'>
  readonly reader: ClickHouseReader
}
