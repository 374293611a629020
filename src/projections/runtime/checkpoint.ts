import type { Position } from '../../domain/ports/event-store.js'
import type { ClickHouseReader, ClickHouseWriter } from '../../domain/ports/clickhouse.js'
import type { Quarantined } from './insert-batch.js'

const PROJECTOR = 'main'

type Querying = Pick<ClickHouseReader, 'query'>

export const readCheckpoint = async (clickHouse: Querying): Promise<Position> => {
  const [row] = await clickHouse.query<{ position: string }>(
    'SELECT toString(max(position)) AS position FROM checkpoints WHERE projector = {projector:String}',
    { projector: PROJECTOR },
  )
  return BigInt(row?.position ?? '0')
}

export const writeCheckpoint = (clickHouse: ClickHouseWriter, position: Position): Promise<void> =>
  clickHouse.insert({
    table: 'checkpoints',
    columns: ['projector', 'position'],
    values: [[PROJECTOR, String(position)]],
  })

export const writeQuarantine = (clickHouse: ClickHouseWriter, quarantined: readonly Quarantined[]) =>
  clickHouse.insert({
    table: 'quarantine',
    columns: ['position', 'event_id', 'type', 'stream', 'reason'],
    values: quarantined.map(({ event, reason }) => [
      String(event.position),
      event.id,
      event.type,
      event.stream,
      reason,
    ]),
  })

export const countQuarantined = async (clickHouse: Querying): Promise<number> => {
  const [row] = await clickHouse.query<{ events: number }>(
    'SELECT uniqExact(position) AS events FROM quarantine',
  )
  return row?.events ?? 0
}
