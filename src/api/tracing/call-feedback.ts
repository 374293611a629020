import type { JsonObject } from '../../domain/json/json.js'
import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import type { CallId } from '../../projections/calls/queries.js'
import { feedbackBytes, feedbackOn } from '../../projections/feedback/queries.js'
import { feedbackJson } from '../feedback/read.js'
import { pages, pagesOf } from './pages.js'

const refOf = (projectId: string, callId: string): string => `weave:///${projectId}/call/${callId}`

/** Splits calls into pages by the size of the calls and their feedback. */
export async function* pagesWithFeedback(
  reader: ClickHouseReader,
  projectId: string,
  ids: AsyncIterable<readonly CallId[]>,
  position: Position,
): AsyncGenerator<readonly CallId[]> {
  for await (const page of pagesOf(ids)) {
    const refs = page.map(({ id }) => refOf(projectId, id))
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
  const refs = ids.map((id) => refOf(projectId, id))
  const byRef = await feedbackOn(reader)(projectId, refs, position)
  return (callId) => (byRef.get(refOf(projectId, callId)) ?? []).map(feedbackJson)
}
