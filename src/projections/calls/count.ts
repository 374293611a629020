import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import {
  compileSelection,
  DELETED,
  DELETED_KEYS,
  KEY_FIRST,
  SETTINGS,
  type CallSelection,
  type CompiledSelection,
} from './select.js'

export interface CallCount {
  /** Up to the limit. */
  readonly count: number
  readonly has_more: boolean
  /** The bytes of all payload, if requested. */
  readonly bytes: number | null
}

/**
 * How many calls are selected.
 *
 * @throws UnknownField
 */
export const countCalls =
  (reader: ClickHouseReader) =>
  async (selection: CallSelection, limit: number | null, withBytes = false): Promise<CallCount> => {
    const compiled = compileSelection(selection, [])
    const { total, bytes } =
      compiled.isDecidedByStart && !withBytes
        ? { total: await countStarts(reader, compiled), bytes: null }
        : await countMerged(reader, compiled, withBytes ? null : limit, withBytes)
    return { count: Math.min(total, limit ?? Infinity), has_more: limit !== null && total > limit, bytes }
  }

const countMerged = async (
  reader: ClickHouseReader,
  { selected, parameters }: CompiledSelection,
  limit: number | null,
  withBytes: boolean,
): Promise<{ readonly total: number; readonly bytes: number | null }> => {
  const [row] = await reader.query<{ total: number; bytes: number | null }>(
    `SELECT count() AS total, ${withBytes ? 'sum(call_bytes)' : 'NULL'} AS bytes
    FROM (${selected(withBytes ? 'call_bytes' : '1')} ${limit === null ? '' : 'LIMIT {counted:UInt64}'}) ${SETTINGS}`,
    { ...parameters, ...(limit === null ? {} : { counted: limit + 1 }) },
  )
  return row ?? { total: 0, bytes: withBytes ? 0 : null }
}

/** Without merging rows, which costs several times as much: counts starts, less those of deleted calls. */
const countStarts = async (reader: ClickHouseReader, compiled: CompiledSelection): Promise<number> => {
  const { selected, parameters } = compiled
  const [started, [deleted]] = await Promise.all([
    countDistinctStarts(reader, compiled),
    reader.query<{ total: number }>(
      `SELECT count() AS total FROM (${selected('1', [`(started_at, id) IN ${DELETED_KEYS}`], DELETED)}) ${KEY_FIRST}`,
      parameters,
    ),
  ])
  return started - (deleted?.total ?? 0)
}

interface PartCount {
  readonly starts: number
  readonly first: number
  readonly last: number
}

/**
 * A part has one row a call, and starts are inserted in the order of the log. So a start can be in two parts only where
 * their positions overlap: after a crash, until the repeated rows are merged.
 */
const countDistinctStarts = async (
  reader: ClickHouseReader,
  { candidates, parameters }: CompiledSelection,
): Promise<number> => {
  const parts = await reader.query<PartCount>(
    `SELECT count() AS starts, min(call_started_position) AS first, max(call_started_position) AS last
    FROM (${candidates('call_part, call_started_position')}) GROUP BY call_part ORDER BY first ${SETTINGS}`,
    parameters,
  )
  let reached = -1
  for (const { first, last } of parts) {
    if (first <= reached) {
      const [row] = await reader.query<{ total: number }>(
        `SELECT uniqExact(call_started_at, call_id) AS total FROM (${candidates('call_started_at, call_id')}) ${SETTINGS}`,
        parameters,
      )
      return row?.total ?? 0
    }
    reached = last
  }
  return parts.reduce((sum, { starts }) => sum + starts, 0)
}
