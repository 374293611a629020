import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import { ALL_MERGED, type MergedRows } from '../unmerged-rows.js'
import {
  compileSelection,
  DELETED,
  DELETED_KEYS,
  KEY_FIRST,
  readManyCalls,
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
      compiled.isDecidedByCandidates && !withBytes
        ? { total: await countCandidates(reader, compiled), bytes: null }
        : await countMerged(reader, compiled, withBytes ? null : limit, withBytes)
    return { count: Math.min(total, limit ?? Infinity), has_more: limit !== null && total > limit, bytes }
  }

/** Larger sets of keys take too much memory. */
const MAX_KEYS = 1_000_000

/** Reads only calls that may be running, unless many rows are not merged yet. */
const rangeOfRunning = async (
  reader: ClickHouseReader,
  { candidates, parameters }: CompiledSelection,
): Promise<readonly string[]> => {
  const [row] = await reader.query<{ total: number }>(
    `SELECT count() AS total FROM (${candidates('call_started_position')}) ${SETTINGS}`,
    parameters,
  )
  if ((row?.total ?? 0) > MAX_KEYS) return []
  return [`(started_at, id) IN (${candidates('call_started_at, call_id')})`]
}

const countMerged = async (
  reader: ClickHouseReader,
  compiled: CompiledSelection,
  limit: number | null,
  withBytes: boolean,
): Promise<{ readonly total: number; readonly bytes: number | null }> => {
  const { selected, parameters } = compiled
  const range = compiled.isOfRunning ? await rangeOfRunning(reader, compiled) : []
  const count = (rows: MergedRows) =>
    reader.query<{ total: number; bytes: number | null }>(
      `SELECT count() AS total, ${withBytes ? 'sum(call_bytes)' : 'NULL'} AS bytes
      FROM (${selected(withBytes ? 'call_bytes' : '1', { range, rows })} ${limit === null ? '' : 'LIMIT {counted:UInt64}'}) ${SETTINGS}`,
      { ...parameters, ...rows.parameters, ...(limit === null ? {} : { counted: limit + 1 }) },
    )
  const [row] = await (range.length > 0 ? count(ALL_MERGED) : readManyCalls(reader, compiled, count))
  return row ?? { total: 0, bytes: withBytes ? 0 : null }
}

/** Without merging rows, which costs several times as much: counts rows of starts or ends, less deleted calls. */
const countCandidates = async (reader: ClickHouseReader, compiled: CompiledSelection): Promise<number> => {
  const range = [`(started_at, id) IN ${DELETED_KEYS}`]
  const [started, [deleted]] = await Promise.all([
    countDistinct(reader, compiled),
    reader.query<{ total: number }>(
      `SELECT count() AS total FROM (${compiled.selected('1', { range, visible: DELETED })}) ${KEY_FIRST}`,
      compiled.parameters,
    ),
  ])
  return started - (deleted?.total ?? 0)
}

interface PartCount {
  readonly calls: number
  readonly first: number
  readonly last: number
}

/**
 * A part has one row a call, and rows are inserted in the order of the log. So an event can be in two parts only where
 * their positions overlap: after a crash, until the repeated rows are merged.
 */
const countDistinct = async (
  reader: ClickHouseReader,
  { candidates, candidatePosition, parameters }: CompiledSelection,
): Promise<number> => {
  const parts = await reader.query<PartCount>(
    `SELECT count() AS calls, min(${candidatePosition}) AS first, max(${candidatePosition}) AS last
    FROM (${candidates(`call_part, ${candidatePosition}`)}) GROUP BY call_part ORDER BY first ${SETTINGS}`,
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
  return parts.reduce((sum, { calls }) => sum + calls, 0)
}
