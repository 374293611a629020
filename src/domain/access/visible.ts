import { entityOf } from '../ids.js'
import type { RecordedEvent } from '../ports/event-store.js'
import type { KeyHolder } from './look-ups.js'

/** The streams that belong to one project, as the catalogue names them. */
const OF_PROJECT =
  /^(?:call|intake|project|object|table|file|feedback|price)-([A-Za-z0-9._-]{1,128}\/[A-Za-z0-9._-]{1,128})(?:\/|$)/

/** The project that a stream belongs to; undefined for a stream of no project, such as the directory of keys. */
export const projectOfStream = (stream: string): string | undefined => OF_PROJECT.exec(stream)?.[1]

/**
 * Whether somebody may read an event: the administrator any, others those of their teams' projects. An event counts to a
 * project only if its stream and its data both say so.
 */
export const mayRead = (
  { administrator, teams }: Pick<KeyHolder, 'administrator' | 'teams'>,
  { stream, data }: Pick<RecordedEvent, 'stream' | 'data'>,
): boolean => {
  if (administrator) return true
  const project = projectOfStream(stream)
  return project !== undefined && data['project_id'] === project && teams.includes(entityOf(project))
}
