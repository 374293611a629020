import type { JsonObject } from '../../domain/json/json.js'
import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import { callSizes, traceSizesInBytes, type StoredCall } from '../../projections/calls/queries.js'

/** Members of a call that are included on request. */
export interface RequestedExtras {
  readonly include_storage_size: boolean
  readonly include_total_storage_size: boolean
  readonly include_usernames?: boolean
}

/** The payload size of each call, the trace size of each root, and user names, which are the same as user ids here. */
export const extrasOf = async (
  reader: ClickHouseReader,
  projectId: string,
  calls: readonly StoredCall[],
  position: Position,
  asked: RequestedExtras,
): Promise<(call: StoredCall) => JsonObject> => {
  const ids = asked.include_storage_size ? calls.map(({ id }) => id) : []
  const roots = asked.include_total_storage_size ? calls.filter(isRoot) : []
  const traceIds = [...new Set(roots.map(({ trace_id }) => trace_id))]
  const own = await callSizes(reader)(projectId, ids, position)
  const total = await traceSizesInBytes(reader)(projectId, traceIds, position)
  return (call) => ({
    ...(asked.include_storage_size ? { storage_size_bytes: own.get(call.id) ?? null } : {}),
    ...(asked.include_total_storage_size
      ? { total_storage_size_bytes: (isRoot(call) ? total.get(call.trace_id) : undefined) ?? null }
      : {}),
    ...(asked.include_usernames === true && call.wb_user_id !== null ? { wb_username: call.wb_user_id } : {}),
  })
}

const isRoot = ({ parent_id }: StoredCall): boolean => parent_id === null
