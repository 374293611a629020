import type { JsonObject } from '../../kernel/json/json.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { callRef } from '../../domain/refs/ref.js'
import { callSizes, traceSizesInBytes } from '../../projections/calls/read.js'
import { NO_FILTER } from '../../projections/calls/filter.js'
import type { CallId } from '../../projections/calls/pages.js'
import type { StoredCall } from '../../projections/calls/columns.js'
import type { usageFrom } from '../../projections/usage/queries.js'
import { feedbackBytes, feedbackOn } from '../../projections/feedback/queries.js'
import { feedbackJson } from '../feedback/read.js'
import { pages, pagesOf } from '../../application/calls/pages.js'
import { usageText } from '../../application/calls/usage-json.js'

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
  requested: RequestedExtras,
): Promise<(call: StoredCall) => JsonObject> => {
  const ids = requested.include_storage_size ? calls.map(({ id }) => id) : []
  const roots = requested.include_total_storage_size ? calls.filter(isRoot) : []
  const traceIds = [...new Set(roots.map(({ trace_id }) => trace_id))]
  const own = await callSizes(reader)(projectId, ids, position)
  const total = await traceSizesInBytes(reader)(projectId, traceIds, position)
  return (call) => ({
    ...(requested.include_storage_size ? { storage_size_bytes: own.get(call.id) ?? null } : {}),
    ...(requested.include_total_storage_size
      ? { total_storage_size_bytes: (isRoot(call) ? total.get(call.trace_id) : undefined) ?? null }
      : {}),
    ...(requested.include_usernames === true && call.wb_user_id !== null
      ? { wb_username: call.wb_user_id }
      : {}),
  })
}

/** The inclusive usage of calls as JSON, with costs by the project's prices where they are requested. */
export const usageOn =
  (usage: ReturnType<typeof usageFrom>, maxTraceCalls: number) =>
  async (
    reader: ClickHouseReader,
    projectId: string,
    ids: readonly string[],
    position: Position,
    withCosts: boolean,
  ): Promise<(callId: string) => string> => {
    const answer = await usage(reader, {
      projectId,
      position,
      maxTraceCalls,
      limit: ids.length,
      operation: null,
      filter: { ...NO_FILTER, call_ids: ids },
      costs: withCosts ? { list: null } : null,
    })
    const texts = new Map(answer.calls.map((call) => [call.id, usageText(call, withCosts)]))
    return (callId) => texts.get(callId) ?? '{}'
  }

const isRoot = ({ parent_id }: StoredCall): boolean => parent_id === null

/** Splits calls into pages by the size of the calls and their feedback. */
export async function* pagesWithFeedback(
  reader: ClickHouseReader,
  projectId: string,
  ids: AsyncIterable<readonly CallId[]>,
  position: Position,
): AsyncGenerator<readonly CallId[]> {
  for await (const page of pagesOf(ids)) {
    const refs = page.map(({ id }) => callRef(projectId, id))
    const bytes = await feedbackBytes(reader)(projectId, refs, position)
    yield* pages(page.map((call, at) => ({ ...call, bytes: call.bytes + (bytes.get(refs[at]!) ?? 0) })))
  }
}

export const feedbackOnCalls = async (
  reader: ClickHouseReader,
  projectId: string,
  ids: readonly string[],
  position: Position,
): Promise<(callId: string) => readonly JsonObject[]> => {
  const refs = ids.map((id) => callRef(projectId, id))
  const byRef = await feedbackOn(reader)(projectId, refs, position)
  return (callId) => (byRef.get(callRef(projectId, callId)) ?? []).map(feedbackJson)
}
