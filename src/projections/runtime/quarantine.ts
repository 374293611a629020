import type { ClickHouseReader, ClickHouseWriter } from '../../kernel/ports/clickhouse.js'
import type { RecordedEvent } from '../../kernel/ports/event-store.js'
import { QUARANTINE } from './tables.js'

/** An event whose rows could not be made, or were refused because of their data. */
export interface Quarantined {
  readonly event: RecordedEvent
  readonly reason: string
}

export const writeQuarantine = (clickHouse: ClickHouseWriter, quarantined: readonly Quarantined[]) =>
  clickHouse.insert(
    QUARANTINE.rows(
      quarantined.map(({ event, reason }) => {
        const { position, id: event_id, type, stream } = event
        return { position, event_id, type, stream, reason }
      }),
    ),
  )

export const countQuarantined = async (clickHouse: Pick<ClickHouseReader, 'query'>): Promise<number> => {
  const [row] = await clickHouse.query<{ events: number }>(
    'SELECT uniqExact(position) AS events FROM quarantine',
  )
  return row?.events ?? 0
}
