import type { Instant } from '../../kernel/codec/instant.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { dateTime64, SQL_TIME } from '../clickhouse-values.js'
import type { Projection } from '../projection.js'

/** Notes when events were recorded: the last of each millisecond of a batch. */
export const eventTimes: Projection = {
  name: 'event_times',
  rowsOf: (events) => {
    const values = events.flatMap(({ position, recordedAt }, n) =>
      recordedAt === undefined || recordedAt.getTime() === events[n + 1]?.recordedAt?.getTime()
        ? []
        : [[String(position), recordedAt.toISOString().slice(0, 23)]],
    )
    return values.length === 0 ? [] : [{ table: 'event_times', columns: ['position', 'recorded_at'], values }]
  },
}

/** The position of the last event that was recorded no later than a time, 0 where there is none. */
export const positionByTime =
  (reader: Pick<ClickHouseReader, 'query'>) =>
  async (time: Instant): Promise<Position> => {
    const [row] = await reader.query<{ last: string }>(
      `SELECT toString(position) AS last FROM event_times
      WHERE recorded_at <= {time:${SQL_TIME}} ORDER BY event_times.position DESC LIMIT 1`,
      { time: dateTime64(time) },
    )
    return BigInt(row?.last ?? 0)
  }
