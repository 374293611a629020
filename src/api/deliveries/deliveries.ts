import type { AttemptRecords } from '../../domain/ports/attempt-records.js'
import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { CompilePattern } from '../../domain/ports/patterns.js'
import type { Ports } from '../../domain/ports/ports.js'
import type { Access } from '../auth/access.js'
import type { Reading } from '../reading.js'

/** What the delivery log is read and acted on with. */
export interface Deliveries {
  readonly ports: Pick<Ports, 'eventStore' | 'ids' | 'sha256' | 'clock'> & {
    readonly compilePattern: CompilePattern
    /** What attempts looked like, as long as that is kept on this machine. */
    readonly attempts: Pick<AttemptRecords, 'of'>
  }
  readonly access: Pick<Access, 'directory'>
  readonly reading: Reading
  readonly reader: ClickHouseReader
  /** Stands in references to artifacts. */
  readonly vendor: string
}

/** Under which a team's deliveries are acknowledged to those who changed them. */
export const acknowledgedAs = (team: string): string => `deliveries of ${team}`
