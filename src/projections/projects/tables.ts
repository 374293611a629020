import { instant, position, table, text } from '../table.js'

/** Projects that a client registered by name. */
export const PROJECTS = table('projects', { project_id: text, created_at: instant, position }, ['project_id'])
