import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import { callsById } from '../../projections/calls/queries.js'
import { objectValues } from '../../projections/objects/queries.js'
import { rowValues } from '../../projections/tables/queries.js'
import { callJson } from '../tracing/call-json.js'
import type { Sources } from './roots.js'

/** The values of a position; a project that may not be read has none. */
export const sourcesAt = (
  reader: ClickHouseReader,
  position: Position,
  mayRead: (projectId: string) => boolean,
): Sources => ({
  objects: async (projectId, wanted) =>
    mayRead(projectId) ? objectValues(reader)(projectId, wanted, position) : [],

  rows: async (projectId, wanted) =>
    mayRead(projectId) ? rowValues(reader)(projectId, wanted, position) : [],

  calls: async (projectId, ids) => {
    if (!mayRead(projectId)) return []
    const calls = await callsById(reader)(projectId, ids, position)
    const texts = new Map(calls.map((call) => [call.id, callJson(call, () => true)]))
    return ids.map((id) => texts.get(id))
  },
})
