import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import { condition, type CallsFilter } from '../calls/filter.js'

export interface MatchingCall {
  readonly id: string
  readonly trace_id: string
  /** The id's xxHash32. */
  readonly hash: number
}

export interface Matching {
  /** In the order of start and id. */
  readonly calls: readonly MatchingCall[]
  /** How many more there are beyond the limit. */
  readonly more: number
}

/** The first calls that a filter selects. */
export const matchingCalls = async (
  reader: ClickHouseReader,
  projectId: string,
  filter: CallsFilter | null,
  position: Position,
  limit: number,
): Promise<Matching> => {
  const { sql, parameters } = condition(projectId, filter, position)
  const calls = await reader.query<MatchingCall>(
    `SELECT id, trace_id, xxHash32(id) AS hash FROM calls FINAL WHERE ${sql} ORDER BY started_at, id LIMIT {limit:UInt64}`,
    { ...parameters, limit },
  )
  if (calls.length < limit) return { calls, more: 0 }
  const [row] = await reader.query<{ total: number }>(
    `SELECT count() AS total FROM calls FINAL WHERE ${sql}`,
    parameters,
  )
  return { calls, more: Math.max(0, (row?.total ?? 0) - calls.length) }
}
