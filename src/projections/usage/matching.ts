import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import { selection, SETTINGS, type CallsAsked } from '../calls/selection.js'

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

/**
 * The first calls that a filter and an operation select.
 *
 * @throws UnknownField
 */
export const matchingCalls = async (
  reader: ClickHouseReader,
  asked: CallsAsked,
  limit: number,
): Promise<Matching> => {
  const { sql, parameters } = selection(asked)
  const calls = await reader.query<MatchingCall>(
    `SELECT call_id AS id, call_trace_id AS trace_id, xxHash32(call_id) AS hash ${sql}
    ORDER BY call_started_at, call_id LIMIT {limit:UInt64} ${SETTINGS}`,
    { ...parameters, limit },
  )
  if (calls.length < limit) return { calls, more: 0 }
  const [row] = await reader.query<{ total: number }>(
    `SELECT count() AS total ${sql} ${SETTINGS}`,
    parameters,
  )
  return { calls, more: Math.max(0, (row?.total ?? 0) - calls.length) }
}
