import type { ClickHouseReader } from '../../../kernel/ports/clickhouse.js'
import { statementFields } from '../../calls/fields.js'
import { compileSelection, readManyCalls, SETTINGS, type CallSelection } from '../../calls/select.js'
import { fieldValue } from '../../expression/fields.js'
import { asText } from '../../expression/value.js'
import { joined, raw, select, sql, typed } from '../../sql.js'
import type { Span } from './metric.js'

export interface StatusCount {
  /** Of a bucket, in seconds since 1970. */
  readonly start: number
  readonly status: string
  readonly calls: number
}

/** The calls of each bucket by their status. */
export const statusCounts = (reader: ClickHouseReader, span: Span): Promise<readonly StatusCount[]> => {
  const compiled = compileSelection(span, [])
  const starts = typed(
    'Array(Int64)',
    span.starts.map((start) => BigInt(start) * 1_000_000n),
  )
  const columns = sql`toFloat64(intDiv(roundDown(toUnixTimestamp64Micro(assumeNotNull(call_started_at)), ${starts}), 1000000)) AS start,
    call_status AS status`
  return readManyCalls(reader, compiled, (rows) =>
    select<StatusCount>(
      reader,
      sql`SELECT start, status, toFloat64(count()) AS calls FROM (${compiled.selected(columns, { rows })})
      GROUP BY start, status ${SETTINGS}`,
    ),
  )
}

/**
 * How many different values of each field calls have.
 *
 * @throws UnknownField
 */
export const distinctValues = async (
  reader: ClickHouseReader,
  selection: CallSelection,
  names: readonly string[],
): Promise<readonly number[]> => {
  const { fields, joins } = statementFields()
  const compiled = compileSelection(selection, [])
  const values = names.map(
    (name, n) => sql`nullIf(${asText(fieldValue(fields, name))}, '') AS ${raw(`value_${n}`)}`,
  )
  const counts = raw(names.map((_, n) => `toFloat64(uniqExact(value_${n}))`).join(', '))
  const rows = await readManyCalls(reader, compiled, (merged) =>
    select<{ counts: readonly number[] }>(
      reader,
      sql`SELECT array(${counts}) AS counts
      FROM (${compiled.selected(joined(values), { rows: merged, joins: joins() })}) ${SETTINGS}`,
    ),
  )
  return rows[0]!.counts
}

/** Whether the project has a call at any time, perhaps a deleted one. */
export const hasCalls = async (
  reader: Pick<ClickHouseReader, 'query'>,
  projectId: string,
): Promise<boolean> => {
  const rows = await select(
    reader,
    sql`SELECT 1 AS one FROM calls WHERE project_id = ${projectId} ${raw('LIMIT 1')}`,
  )
  return rows.length > 0
}
