import { instantOf, type Instant } from '../../kernel/codec/instant.js'
import type { ClickHouseReader, ClickHouseWriter } from '../../kernel/ports/clickhouse.js'
import type { Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import { dateTime64, SQL_TIME } from '../clickhouse-values.js'

export type EventTimes = ReturnType<typeof eventTimes>

/** When projected events were recorded, for those of which `event_times` has no rows yet. */
export const eventTimes = () => {
  let times: { readonly position: Position; readonly recordedAt: Instant }[] = []
  return {
    /** Of the events of a millisecond only the last counts. */
    add: ({ position, recordedAt }: Pick<RecordedEvent, 'position' | 'recordedAt'>): void => {
      const last = times.at(-1)
      if (last !== undefined && position <= last.position) return
      const time = { position, recordedAt: instantOf(recordedAt) }
      if (last?.recordedAt === time.recordedAt) times[times.length - 1] = time
      else times.push(time)
    },
    /** Inserts the rows. A checkpoint is written only after that. */
    insert: async (writer: Pick<ClickHouseWriter, 'insert'>): Promise<void> => {
      const { length } = times
      if (length === 0) return
      const values = times.map(({ position, recordedAt }) => [String(position), dateTime64(recordedAt)])
      await writer.insert({ table: 'event_times', columns: ['position', 'recorded_at'], values })
      times = times.slice(length)
    },
    /** The position of the last of these events that was recorded no later than a time. */
    lastBy: (time: Instant): Position | undefined =>
      times.findLast(({ recordedAt }) => recordedAt <= time)?.position,
  }
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
