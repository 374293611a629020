import { createHash } from 'node:crypto'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { yielding } from '../../kernel/yield-to-event-loop.js'
import { select, sql } from '../sql.js'
import { USAGE_TOTALS } from '../usage/tables.js'
import { tracesChangedAfter } from '../usage/totals-pass.js'
import { totalsOfTraces } from '../usage/totals-state.js'
import type { TotalsRow } from '../usage/totals.js'
import type { DigestedModel } from './model.js'

/** The values of a `TotalsRow`. */
const COLUMNS = USAGE_TOTALS.names.filter((column) => column !== 'position' && column !== 'is_deleted')

/** The stored rows of traces that did not change after `{after:UInt64}`. */
export const storedTotals: DigestedModel = {
  table: USAGE_TOTALS.name,
  key: ['project_id', 'started_at', 'call_id'],
  rows: (range) => `
    SELECT arrayStringConcat(arrayMap(value -> concat(toString(length(value)), ':', value),
      [${COLUMNS.map((column) => `toString(${column})`).join(', ')}])) AS row
    FROM usage_totals FINAL WHERE ${range}
      AND project_id NOT IN (SELECT project_id FROM usage_reporting WHERE position > {after:UInt64})
      AND (project_id, trace_id) NOT IN (SELECT project_id, trace_id FROM usage_facts WHERE position > {after:UInt64})`,
}

/** The digests of the rows of all other traces as of a position, computed from their facts. */
export async function* computedTotals(
  reader: ClickHouseReader,
  after: Position,
  position: Position,
): AsyncGenerator<bigint> {
  const pause = yielding()
  for await (const { projectId, traceIds } of tracesChangedAfter(reader, after))
    for await (const rows of totalsOfTraces(reader, projectId, traceIds, position))
      for (const row of rows) {
        await pause()
        yield digestOfRow(row)
      }
}

/** Of the same text as in `storedTotals`, and the same number as `reinterpretAsUInt256`, which begins with the lowest byte. */
const digestOfRow = (row: TotalsRow): bigint => {
  const text = row.map((value) => `${Buffer.byteLength(String(value))}:${String(value)}`).join('')
  return BigInt(`0x${createHash('sha256').update(text).digest().reverse().toString('hex')}`)
}

/** A text that changes when a trace begins to belong to the computed ones, except for new traces. */
export const changesAfter = async (reader: ClickHouseReader, after: Position): Promise<string> => {
  const [row] = await select<{ changes: string }>(
    reader,
    sql`SELECT toString((uniqExact(project_id, trace_id),
      (SELECT count() FROM usage_reporting WHERE position > ${after}))) AS changes
    FROM usage_facts WHERE position <= ${after}
      AND (project_id, trace_id) IN (SELECT project_id, trace_id FROM usage_facts WHERE position > ${after})`,
  )
  return row!.changes
}
