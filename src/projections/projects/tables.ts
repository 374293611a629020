import { instant, position, table, text, texts } from '../table.js'

/** Projects that a client registered by name. */
export const PROJECTS = table('projects', { project_id: text, created_at: instant, position }, ['project_id'])

/** The keys of the attribute that has the end user of a project's calls, from a position on. */
export const END_USER_ATTRIBUTES = table('end_user_attributes', { project_id: text, position, path: texts }, [
  'project_id',
  'position',
])
