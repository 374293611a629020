import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import { NO_FILTER } from '../calls/filter.js'
import { loadTraces } from './load.js'
import { matchingCalls } from './matching.js'
import { batchesOfTraces } from './trace-batches.js'
import { idText } from './trace-columns.js'

/** The given calls of a project that are there, with all that descends from them within their traces. */
export const withDescendants =
  (reader: ClickHouseReader) =>
  async (projectId: string, callIds: readonly string[], position: Position): Promise<readonly string[]> => {
    const filter = { ...NO_FILTER, call_ids: callIds }
    const { calls } = await matchingCalls(
      reader,
      { projectId, filter, operation: null, position },
      callIds.length,
    )
    const found: string[] = []
    for (const traceIds of await batchesOfTraces(reader, projectId, [
      ...new Set(calls.map(({ trace_id }) => trace_id)),
    ])) {
      const columns = await loadTraces(reader, projectId, traceIds, position)
      const here = new Set(traceIds)
      const roots = calls
        .filter(({ trace_id }) => here.has(trace_id))
        .map(({ id, hash }) => columns.find(Buffer.from(id), 0, Buffer.byteLength(id), hash))
      for (const call of below(
        columns.parent.map((above) => (above >= 0 && columns.deleted[above] === 1 ? -1 : above)),
        roots,
      ))
        if (columns.deleted[call] === 0) found.push(idText(columns.ids, call))
    }
    return found
  }

/** The roots and everything below them, each once, also where parents form a cycle. */
const below = (parent: Int32Array, roots: readonly number[]): readonly number[] => {
  const children = new Map<number, number[]>()
  parent.forEach((above, call) => {
    const siblings = children.get(above)
    if (siblings === undefined) children.set(above, [call])
    else siblings.push(call)
  })
  const reached = new Set(roots.filter((call) => call >= 0))
  for (const call of reached) for (const child of children.get(call) ?? []) reached.add(child)
  return [...reached]
}
