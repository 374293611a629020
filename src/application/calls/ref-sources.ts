import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { callsById } from '../../projections/calls/read.js'
import { objectValues } from '../../projections/objects/queries.js'
import { rowValues, rowValuesByIndex } from '../../projections/tables/queries.js'
import { callJson } from './call-json.js'
import type { Sources } from '../refs/resolve.js'

/** Reads values at the position of their project. A project without access has no position and no values. */
export const sourcesFrom = (
  reader: ClickHouseReader,
  positionOf: (projectId: string) => Promise<Position | undefined>,
): Sources => ({
  objects: async (projectId, wanted) => {
    const position = await positionOf(projectId)
    return position === undefined ? [] : objectValues(reader)(projectId, wanted, position)
  },

  rows: async (projectId, wanted) => {
    const position = await positionOf(projectId)
    return position === undefined ? [] : rowValues(reader)(projectId, wanted, position)
  },

  rowsByIndex: async (projectId, wanted) => {
    const position = await positionOf(projectId)
    return position === undefined ? [] : rowValuesByIndex(reader)(projectId, wanted, position)
  },

  calls: async (projectId, ids) => {
    const position = await positionOf(projectId)
    if (position === undefined) return []
    const calls = await callsById(reader)(projectId, ids, position)
    const texts = new Map(calls.map((call) => [call.id, callJson(call, () => true)]))
    return ids.map((id) => texts.get(id))
  },
})
