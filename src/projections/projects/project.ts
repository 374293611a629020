import type { EventOf } from '../../kernel/decider.js'
import type { projectEvents } from '../../domain/projects/project.js'
import { dateTime64 } from '../clickhouse-values.js'
import type { ProjectedEvent, Projection } from '../projection.js'

type Positioned = EventOf<typeof projectEvents> & Pick<ProjectedEvent, 'position'>

/** Projects that a client registered: they are listed before anything is written to them. */
export const projectsProjection: Projection = {
  name: 'projects',
  rowsOf: (events) => {
    const values = (events as readonly Positioned[]).flatMap(({ type, data, position }) =>
      type === 'ProjectCreated' ? [[data.project_id, dateTime64(data.created_at), String(position)]] : [],
    )
    return values.length === 0
      ? []
      : [{ table: 'projects', columns: ['project_id', 'created_at', 'position'], values }]
  },
}
