import { entityOf } from '../ids.js'
import type { RecordedEvent } from '../ports/event-store.js'
import { ACCESS_STREAM } from './events.js'
import type { KeyHolder } from './look-ups.js'

/** The streams that belong to one project, as the catalogue names them. */
const OF_PROJECT =
  /^(?:call|intake|project|object|table|file|feedback|price|artifact|run)-([A-Za-z0-9._-]{1,128}\/[A-Za-z0-9._-]{1,128})(?:\/|$)/

/** The streams that name the team that they belong to. */
const OF_TEAM = /^(?:registry|registered|names|secret|limits)-([A-Za-z0-9._-]{1,128})(?:\/|$)/

/** The streams of things of teams: whose a thing is, stands in their events. */
const OF_THING = /^(?:(?:webhook|automation|delivery|redrive)-|(?:upstreams|access-directory)$)/

/** What is only shown to administrators of its team elsewhere: addresses, limits, the names of secrets, who is a member. */
const FOR_ADMINISTRATORS = /^(?:(?:webhook|secret|limits)-|(?:upstreams|access-directory)$)/

/** The project that a stream belongs to; undefined for a stream of no project, such as the directory of keys. */
export const projectOfStream = (stream: string): string | undefined => OF_PROJECT.exec(stream)?.[1]

type Reader = Pick<KeyHolder, 'administrator' | 'teams' | 'administers'>

/**
 * Whether somebody may read an event: the administrator any, others those of their teams and of their teams' projects,
 * but for what a team shows to its own administrators alone. An event counts to a project only if its stream and its data both say so, and likewise to a team whose name is in the
 * name of the stream.
 */
export const mayRead = (
  { administrator, teams, administers }: Reader,
  { stream, data }: Pick<RecordedEvent, 'stream' | 'data'>,
): boolean => {
  if (administrator) return true
  const project = projectOfStream(stream)
  if (project !== undefined) return data['project_id'] === project && teams.includes(entityOf(project))
  const { team } = data
  if (typeof team !== 'string' || !(FOR_ADMINISTRATORS.test(stream) ? administers : teams).includes(team))
    return false
  return OF_THING.test(stream) || OF_TEAM.exec(stream)?.[1] === team
}

/** Whether a stream may have events that somebody may read, as far as its name tells. */
export const mayReadFrom = ({ administrator, teams, administers }: Reader, stream: string): boolean => {
  if (stream === ACCESS_STREAM) return administrator || administers.length > 0
  if (administrator || OF_THING.test(stream)) return true
  const project = projectOfStream(stream)
  const team = project === undefined ? OF_TEAM.exec(stream)?.[1] : entityOf(project)
  return team !== undefined && teams.includes(team)
}
