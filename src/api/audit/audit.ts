import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Ports } from '../../domain/ports/ports.js'
import { Failure } from '../failure.js'
import type { Principal } from '../principal.js'
import type { Reading } from '../reading.js'

/** What an auditor's questions are answered from. */
export interface Audit {
  readonly ports: Pick<Ports, 'eventStore' | 'blobs'>
  readonly reading: Reading
  readonly reader: ClickHouseReader
}

/** @throws Failure the same for every other key, whatever is asked for */
export const requireAdministrator = ({ administrator }: Principal): void => {
  if (!administrator) throw new Failure('forbidden', 'This needs the administrator key.')
}
