import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import type { UsageReporting } from '../../domain/project/events.js'
import { columnsBuilder, type FactCounts } from './columns-builder.js'
import { RowBinaryReader } from './row-binary.js'
import type { TraceColumns } from './trace-columns.js'

export interface TraceSize extends FactCounts {
  readonly trace_id: string
}

/** How large the facts of each of the given traces are; traces without facts are left out. */
export const traceSizes = (
  reader: ClickHouseReader,
  projectId: string,
  traceIds: readonly string[],
): Promise<readonly TraceSize[]> =>
  reader.query<TraceSize>(
    `SELECT trace_id, count() AS rows, sum(length(call_id)) AS id_bytes, sum(length(parent_id)) AS parent_bytes,
      sum(length(models)) AS entries
    FROM usage_facts
    WHERE project_id = {project:String} AND trace_id IN {traces:Array(String)}
    GROUP BY trace_id ORDER BY trace_id`,
    { project: projectId, traces: traceIds },
  )

/** Rows that a builder reads, in this order of columns; times count from 2100 so that a double holds them exactly. */
const FACTS = `
  transform(trace_id, {traces:Array(String)}, arrayEnumerate({traces:Array(String)}), toUInt32(0)) AS trace,
  call_id,
  parent_id,
  xxHash32(call_id),
  xxHash32(parent_id),
  bitOr(bitOr(started OR ended, bitShiftLeft(ended, 1)), bitShiftLeft(deleted, 2)),
  toFloat64(toUnixTimestamp64Micro(started_at) - 4102444800000000),
  if(ended, toFloat64(toUnixTimestamp64Micro(ended_at) - 4102444800000000), nan),
  toInt8(source),
  ifNull(toFloat64(status_total), nan),
  if(ended, CAST(models, 'Array(String)'), []),
  if(ended, CAST(figures, 'Array(Float64)'), [])`

/** Loads traces as they stood at a position. */
export const loadTraces = async (
  reader: ClickHouseReader,
  projectId: string,
  sizes: readonly TraceSize[],
  position: Position,
): Promise<TraceColumns> => {
  const rows = new RowBinaryReader()
  const builder = columnsBuilder(
    rows,
    sizes.reduce(add, { rows: 0, id_bytes: 0, parent_bytes: 0, entries: 0 }),
  )
  const chunks = reader.stream(
    `WITH
      (started_position > 0 AND started_position <= {position:UInt64}) AS started,
      (ended_position > 0 AND ended_position <= {position:UInt64}) AS ended,
      (deleted_position > 0 AND deleted_position <= {position:UInt64}) AS deleted
    SELECT ${FACTS}
    FROM usage_facts
    WHERE project_id = {project:String} AND trace_id IN {traces:Array(String)} AND (started OR ended OR deleted)
    ORDER BY usage_facts.trace_id, usage_facts.call_id, usage_facts.position`,
    { project: projectId, traces: sizes.map(({ trace_id }) => trace_id), position },
  )
  for await (const chunk of chunks) rows.feed(chunk, builder.row)
  if (!rows.isDrained()) throw new Error('the usage facts ended in the middle of a row')
  return builder.finish()
}

const add = (a: FactCounts, b: FactCounts): FactCounts => ({
  rows: a.rows + b.rows,
  id_bytes: a.id_bytes + b.id_bytes,
  parent_bytes: a.parent_bytes + b.parent_bytes,
  entries: a.entries + b.entries,
})

/** What a project chose for its usage at a position. */
export const usageReportingAt = async (
  reader: ClickHouseReader,
  projectId: string,
  position: Position,
): Promise<UsageReporting> => {
  const [row] = await reader.query<{ usage_reporting: UsageReporting }>(
    `SELECT usage_reporting FROM usage_reporting
    WHERE project_id = {project:String} AND position <= {position:UInt64}
    ORDER BY position DESC LIMIT 1`,
    { project: projectId, position },
  )
  return row?.usage_reporting ?? 'auto'
}
