import { projectEvents } from '../../domain/projects/project.js'
import { fieldPath } from '../../domain/query/field-path.js'
import { projectionOf } from '../projection.js'
import { END_USER_ATTRIBUTES, PROJECTS } from './tables.js'

const { ProjectCreated, EndUserAttributeChosen } = projectEvents

/** Projects that a client registered, which are listed before anything is written to them, and their end-user attributes. */
export const projectsProjection = projectionOf(
  'projects',
  { ProjectCreated, EndUserAttributeChosen },
  (events) => [
    PROJECTS.rows(
      events.flatMap((event) =>
        event.type === 'ProjectCreated' ? [{ ...event.data, position: event.position }] : [],
      ),
    ),
    END_USER_ATTRIBUTES.rows(
      events.flatMap((event) => {
        if (event.type !== 'EndUserAttributeChosen') return []
        const { project_id, end_user_attribute } = event.data
        const path = end_user_attribute === '' ? [] : fieldPath(end_user_attribute)
        return [{ project_id, path, position: event.position }]
      }),
    ),
  ],
)
