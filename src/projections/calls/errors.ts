import type { Instant } from '../../kernel/codec/instant.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import { instantFrom } from '../clickhouse-values.js'
import { select, sql, typed } from '../sql.js'
import { compileSelection, readManyCalls, SETTINGS, type CallSelection } from './select.js'

/** The failed calls of an op with the same `summary.weave.error`. */
export interface ErrorGroup {
  readonly error: string
  readonly op: string
  readonly count: number
  readonly first_at: Instant
  readonly last_at: Instant
  /** The newest call, and its trace. */
  readonly call_id: string
  readonly trace_id: string
}

const HAS_FAILED = { $not: [{ $eq: [{ $getField: 'exception' }, { $literal: null }] }] } as const

const COLUMNS = sql`call_error AS error, call_bare_op AS op, call_started_at AS started, call_id AS id, call_trace_id AS trace`

/** Groups of failed calls, the one with the newest call first. */
export const errorGroups = async (
  reader: ClickHouseReader,
  selection: Omit<CallSelection, 'operation'>,
  limit: number,
): Promise<readonly ErrorGroup[]> => {
  const compiled = compileSelection({ ...selection, operation: HAS_FAILED }, [])
  const rows = await readManyCalls(reader, compiled, (merged) =>
    select<ErrorGroup>(
      reader,
      sql`SELECT assumeNotNull(error) AS error, ifNull(op, '') AS op, toFloat64(count()) AS count,
        min(started) AS first_at, max(started) AS last_at, argMax(id, (started, id)) AS call_id,
        argMax(trace, (started, id)) AS trace_id
      FROM (${compiled.selected(COLUMNS, { rows: merged })})
      GROUP BY error, op ORDER BY last_at DESC, call_id LIMIT ${typed('UInt64', limit)} ${SETTINGS}`,
    ),
  )
  return rows.map((row) => ({
    ...row,
    first_at: instantFrom(row.first_at),
    last_at: instantFrom(row.last_at),
  }))
}
