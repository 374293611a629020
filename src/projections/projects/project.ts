import { projectEvents } from '../../domain/projects/project.js'
import { projectionOf } from '../projection.js'
import { PROJECTS } from './tables.js'

const { ProjectCreated } = projectEvents

/** Projects that a client registered: they are listed before anything is written to them. */
export const projectsProjection = projectionOf('projects', { ProjectCreated }, (events) => [
  PROJECTS.rows(events.map(({ data, position }) => ({ ...data, position }))),
])
