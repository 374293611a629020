import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import type { UsageReporting } from '../../domain/project/events.js'
import { columnsBuilder } from './columns-builder.js'
import { idHash } from './id-hash.js'
import { nativeBlocks } from './native.js'
import type { TraceColumns } from './trace-columns.js'

export interface TraceSize {
  readonly trace_id: string
  /** Facts of the trace: a call has one to three. */
  readonly rows: number
}

/** How large each of the given traces is; traces without facts are left out. */
export const traceSizes = (
  reader: ClickHouseReader,
  projectId: string,
  traceIds: readonly string[],
): Promise<readonly TraceSize[]> =>
  reader.query<TraceSize>(
    `SELECT trace_id, count() AS rows FROM usage_facts
    WHERE project_id = {project:String} AND trace_id IN {traces:Array(String)}
    GROUP BY trace_id ORDER BY trace_id`,
    { project: projectId, traces: traceIds },
  )

/** What the builder reads, in this order; times count from 2100 so that a double holds them exactly. */
const FACTS = `
  transform(trace_id, {traces:Array(String)}, arrayEnumerate({traces:Array(String)}), toUInt32(0)),
  call_id,
  parent_id,
  ${idHash('call_id')},
  ${idHash('parent_id')},
  toUInt8(bitOr(bitOr(started OR ended, bitShiftLeft(ended, 1)), bitShiftLeft(deleted, 2))),
  toFloat64(toUnixTimestamp64Micro(started_at) - 4102444800000000),
  if(ended, toFloat64(toUnixTimestamp64Micro(ended_at) - 4102444800000000), nan),
  toUInt8(source),
  ifNull(toFloat64(status_total), nan),
  if(ended, CAST(models, 'Array(String)'), []),
  if(ended, CAST(figures, 'Array(Float64)'), [])`

/** A trace has more calls than an answer may work on. */
export class TraceTooLarge extends Error {
  override readonly name = 'TraceTooLarge'
  constructor(readonly limit: number) {
    super(`a trace has more than ${limit} calls`)
  }
}

/** What is known of a trace before it is loaded. */
export interface TraceVersion {
  readonly rows: number
  /**
   * The last position at which something of it happened: with the same version it is the same trace. Undefined where
   * some of it happened after the position asked for.
   */
  readonly version: string | undefined
}

export const traceVersion = async (
  reader: ClickHouseReader,
  projectId: string,
  traceId: string,
  position: Position,
): Promise<TraceVersion> => {
  const [row] = await reader.query<{ rows: number; version: string }>(
    `SELECT count() AS rows, toString(max(position)) AS version FROM usage_facts
    WHERE project_id = {project:String} AND trace_id = {trace:String}`,
    { project: projectId, trace: traceId },
  )
  if (row === undefined) return { rows: 0, version: undefined }
  return { rows: row.rows, version: BigInt(row.version) <= position ? row.version : undefined }
}

/** Loads traces as they stood at a position; a single one may have at most so many calls. */
export const loadTraces = async (
  reader: ClickHouseReader,
  projectId: string,
  traceIds: readonly string[],
  position: Position,
  { maxTraceCalls = Infinity, expectedRows = 0 } = {},
): Promise<TraceColumns> => {
  const builder = columnsBuilder(expectedRows)
  const chunks = reader.stream(
    `WITH
      (started_position > 0 AND started_position <= {position:UInt64}) AS started,
      (ended_position > 0 AND ended_position <= {position:UInt64}) AS ended,
      (deleted_position > 0 AND deleted_position <= {position:UInt64}) AS deleted
    SELECT ${FACTS}
    FROM usage_facts
    WHERE project_id = {project:String} AND trace_id IN {traces:Array(String)} AND (started OR ended OR deleted)
    ORDER BY usage_facts.project_id, usage_facts.trace_id, usage_facts.call_id, usage_facts.position`,
    { project: projectId, traces: traceIds, position },
  )
  for await (const block of nativeBlocks(chunks)) {
    builder.add(block)
    if (traceIds.length === 1 && builder.size() > maxTraceCalls) throw new TraceTooLarge(maxTraceCalls)
  }
  return builder.finish()
}

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
