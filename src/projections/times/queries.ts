import type { Instant } from '../../domain/codec/instant.js'
import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import { versionedCache } from '../../runtime/versioned-cache.js'
import { dateTime64 } from '../clickhouse-values.js'

const MAX_KEPT = 1000

/**
 * The position of the last event that was recorded no later than a time, 0 where there is none. It is good as long as
 * nothing more is projected, which `version` tells; so long it is remembered.
 */
export const positionsByTime = (reader: ClickHouseReader, version: () => string) => {
  const known = versionedCache<Position>({ maxSize: MAX_KEPT })
  return async (time: Instant): Promise<Position> => {
    const asked = version()
    const remembered = known.get(time, asked)
    if (remembered !== undefined) return remembered
    const [row] = await reader.query<{ last: string }>(
      `SELECT toString(position) AS last FROM event_times
      WHERE recorded_at <= {time:DateTime64(6, 'UTC')} ORDER BY event_times.position DESC LIMIT 1`,
      { time: dateTime64(time) },
    )
    const position = BigInt(row?.last ?? 0)
    known.put(time, asked, position)
    return position
  }
}
