import type { Projection } from '../projection.js'

/** Every event to the time at which it was recorded, whatever it says. */
export const timesProjection: Projection = {
  name: 'times',
  rowsOf: (events) => {
    const values = events.flatMap(({ position, recordedAt }) =>
      recordedAt === undefined ? [] : [[String(position), dateTime64(recordedAt)]],
    )
    return values.length === 0 ? [] : [{ table: 'event_times', columns: ['position', 'recorded_at'], values }]
  },
}

/** A time of the log as ClickHouse reads a DateTime64(3, 'UTC'). */
const dateTime64 = (time: Date): string => time.toISOString().slice(0, 23).replace('T', ' ')
