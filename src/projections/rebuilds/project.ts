import { rebuildEvents } from '../../domain/rebuilds/rebuild.js'
import { projectionOf } from '../projection.js'
import { REBUILDS } from './tables.js'

/** Requests for rebuilds. */
export const rebuildsProjection = projectionOf('rebuilds', rebuildEvents, (events) => [
  REBUILDS.rows(
    events.map(({ data, position }) => ({
      id: data.id,
      version: 0,
      state: 'requested' as const,
      requested_position: position,
      requested_at: data.requested_at,
      requested_by: data.requested_by,
      started_at: null,
      finished_at: null,
      reached: 0n,
      target: 0n,
      events: 0,
      events_per_second: 0,
      remaining_seconds: null,
      rebuilt: {},
      reason: null,
    })),
  ),
])
