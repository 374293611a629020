import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import { condition, NO_FILTER } from './filter.js'
import { BYTES } from './stored-call.js'

type Sizes = ReadonlyMap<string, number>

/** The bytes of payload of each of the given calls. */
export const callSizes =
  (reader: ClickHouseReader) =>
  (projectId: string, ids: readonly string[], position: Position): Promise<Sizes> =>
    sizesBy('id', reader, condition(projectId, { ...NO_FILTER, call_ids: ids }, position), ids)

/** The bytes of payload of all calls of each of the given traces. */
export const traceSizesInBytes =
  (reader: ClickHouseReader) =>
  (projectId: string, traceIds: readonly string[], position: Position): Promise<Sizes> =>
    sizesBy(
      'trace_id',
      reader,
      condition(projectId, { ...NO_FILTER, trace_ids: traceIds }, position),
      traceIds,
    )

const sizesBy = async (
  key: 'id' | 'trace_id',
  reader: ClickHouseReader,
  { sql, parameters }: ReturnType<typeof condition>,
  asked: readonly string[],
): Promise<Sizes> => {
  if (asked.length === 0) return new Map()
  const rows = await reader.query<{ name: string; bytes: number }>(
    `SELECT ${key} AS name, sum(${BYTES}) AS bytes FROM calls FINAL WHERE ${sql} GROUP BY name`,
    parameters,
  )
  return new Map(rows.map(({ name, bytes }) => [name, bytes]))
}
