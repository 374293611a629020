import { entityOf } from '../../kernel/ids.js'
import { isJsonObject, type JsonObject } from '../../kernel/json/json.js'
import { withoutCredentials } from '../secrets/credentials.js'
import type { RecordedEvent } from '../../kernel/ports/event-store.js'
import { ACCESS_STREAM } from './events.js'
import type { KeyHolder } from './look-ups.js'

/** Streams of one project, by the names in the catalogue. */
const OF_PROJECT =
  /^(?:call|intake|project|object|table|file|feedback|price|artifact|draft|run|evaluation|evaluation_rules|annotation_queue|annotation_item|fine_tuning|erasure)-([A-Za-z0-9._-]{1,128}\/[^/]{1,256})(?:\/|$)/

/** Streams whose name contains their team. */
const OF_TEAM = /^(?:registry|registered|names|secret|limits)-([A-Za-z0-9._-]{1,128})(?:\/|$)/

/** Streams of team resources whose events, not names, contain the team. */
const OF_THING =
  /^(?:(?:webhook|webhook_health|automation|delivery|redrive)-|(?:upstreams|access-directory)$)/

/** Streams with addresses, their health, limits, secret names or memberships: elsewhere only the team's administrators see these. */
const FOR_ADMINISTRATORS = /^(?:(?:webhook|webhook_health|secret|limits)-|(?:upstreams|access-directory)$)/

/** The project of a stream; undefined for a stream without one, such as the access directory. */
export const projectOfStream = (stream: string): string | undefined => OF_PROJECT.exec(stream)?.[1]

type Reader = Pick<KeyHolder, 'administrator' | 'teams' | 'administers'>

/**
 * Whether a user may read an event. The administrator may read all. Others may read the events of their teams and of
 * those teams' projects, except what only team administrators see. The stream name and the event data must name the
 * same project or team. Only the place of an unreadable event is shown, so there the name is enough.
 */
export const mayRead = (
  { administrator, teams, administers }: Reader,
  { stream, data, unreadable }: Pick<RecordedEvent, 'stream' | 'data' | 'unreadable'>,
): boolean => {
  if (administrator) return true
  const project = projectOfStream(stream)
  if (project !== undefined)
    return (data['project_id'] === project || unreadable !== undefined) && teams.includes(entityOf(project))
  const { team } = data
  if (typeof team !== 'string' || !(FOR_ADMINISTRATORS.test(stream) ? administers : teams).includes(team))
    return false
  return OF_THING.test(stream) || OF_TEAM.exec(stream)?.[1] === team
}

/** Whether a stream may hold events that the user may read, judged by its name alone. */
export const mayReadFrom = ({ administrator, teams, administers }: Reader, stream: string): boolean => {
  if (stream === ACCESS_STREAM) return administrator || administers.length > 0
  if (administrator || OF_THING.test(stream)) return true
  const project = projectOfStream(stream)
  const team = project === undefined ? OF_TEAM.exec(stream)?.[1] : entityOf(project)
  return team !== undefined && teams.includes(team)
}

/** The data of an event that the user may read, without what the routes about the same thing do not show them. */
export const visibleData = (
  { administrator, administers }: Reader,
  { type, data }: Pick<RecordedEvent, 'type' | 'data'>,
): JsonObject => {
  if (administrator) return data
  const { team } = data
  const isTheirs = typeof team === 'string' && administers.includes(team)
  if (type === 'AttemptFinished' && !isTheirs) return { ...data, peer: null }
  if (!OF_CREDENTIALS.test(type)) return data
  const shown = { ...data }
  for (const name of ['headers', 'query'])
    if (isJsonObject(data[name]))
      shown[name] = withoutCredentials(data[name] as Readonly<Record<string, string>>)
  return shown
}

/** Events with headers that earlier releases took with credentials. */
const OF_CREDENTIALS = /^(?:Webhook|Upstream)(?:Created|Changed)$/
