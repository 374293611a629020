import { instantOf, type Instant } from '../../kernel/codec/instant.js'
import type { ClickHouseReader, ClickHouseWriter } from '../../kernel/ports/clickhouse.js'
import type { Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import { select, sql, timeSql } from '../sql.js'
import type { RowOf } from '../table.js'
import { EVENT_TIMES } from './tables.js'

export type EventTimes = ReturnType<typeof eventTimes>

/** When projected events were recorded, for those of which `event_times` has no rows yet. */
export const eventTimes = () => {
  let times: RowOf<typeof EVENT_TIMES>[] = []
  return {
    /** Of the events of a millisecond only the last counts. */
    add: ({ position, recordedAt }: Pick<RecordedEvent, 'position' | 'recordedAt'>): void => {
      const last = times.at(-1)
      if (last !== undefined && position <= last.position) return
      const time = { position, recorded_at: instantOf(recordedAt) }
      if (last?.recorded_at === time.recorded_at) times[times.length - 1] = time
      else times.push(time)
    },
    /** Inserts the rows. A checkpoint is written only after that. */
    insert: async (writer: Pick<ClickHouseWriter, 'insert'>): Promise<void> => {
      const { length } = times
      if (length === 0) return
      await writer.insert(EVENT_TIMES.rows(times))
      times = times.slice(length)
    },
    /** The position of the last of these events that was recorded no later than a time. */
    lastBy: (time: Instant): Position | undefined =>
      times.findLast(({ recorded_at }) => recorded_at <= time)?.position,
  }
}

/** The position of the last event that was recorded no later than a time, 0 where there is none. */
export const positionByTime =
  (reader: Pick<ClickHouseReader, 'query'>) =>
  async (time: Instant): Promise<Position> => {
    const [row] = await select<{ last: string }>(
      reader,
      sql`SELECT toString(position) AS last FROM event_times
      WHERE recorded_at <= ${timeSql(time)} ORDER BY event_times.position DESC LIMIT 1`,
    )
    return BigInt(row?.last ?? 0)
  }
