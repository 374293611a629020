import { callDecider, callStream } from '../../domain/calls/call.js'
import { load } from '../../kernel/execute.js'
import type { EventStore, Position } from '../../kernel/ports/event-store.js'

/** Whether a call or one above it in its trace is deleted. Calls may be on a cycle. */
export const isCallDeleted = async (
  eventStore: EventStore,
  projectId: string,
  id: string | null,
  { at, traceId }: { readonly at?: Position | undefined; readonly traceId?: string } = {},
): Promise<boolean> => {
  const seen = new Set<string>()
  let trace = traceId
  for (let current = id; current !== null && !seen.has(current);) {
    seen.add(current)
    const { state } = await load({ eventStore }, callDecider, callStream(projectId, current), at)
    trace ??= state.start?.trace_id
    if (state.start?.trace_id !== trace) return false
    if (state.deleted) return true
    current = state.start?.parent_id ?? null
  }
  return false
}
