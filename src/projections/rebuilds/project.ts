import type { RebuildEvent } from '../../domain/rebuilds/rebuild.js'
import type { ProjectedEvent, Projection } from '../projection.js'
import { rebuildRows, type Rebuild } from './queries.js'

type Requested = RebuildEvent & Pick<ProjectedEvent, 'position'>

/** Requests for rebuilds, as rows of `rebuilds`. */
export const rebuildsProjection: Projection = {
  name: 'rebuilds',
  rowsOf: (events) => {
    const requests = events.filter(({ type }) => type === 'RebuildRequested') as readonly Requested[]
    return requests.length === 0 ? [] : [rebuildRows(requests.map(asRequested))]
  },
}

const asRequested = ({ data, position }: Requested): Rebuild => ({
  id: data.id,
  version: 0,
  state: 'requested',
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
})
