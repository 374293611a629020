import type { Instant } from '../../kernel/codec/instant.js'
import type { AccessEvent, ApiKeyIssued, ProjectDeleted } from './events.js'
import type { Role } from './roles.js'

/** Users with their teams, roles and API keys: the fold of `access-directory`. */
export interface Directory {
  readonly teams: Map<string, Team>
  readonly users: Map<string, User>
  /** Keys and sessions by id, without revoked ones. */
  readonly keys: Map<string, ApiKey>
  /** Key ids by key hash. */
  readonly keyIds: Map<string, string>
  /** The ids of what a key or session made, by its id. */
  readonly made: Map<string, Set<string>>
  /** The users of revoked keys by key id, so that a late retry does not issue a key again. */
  readonly revoked: Map<string, string>
  readonly deletedProjects: Map<string, ProjectDeleted>
}

/** A member's roles; null after they left. */
type Membership = readonly Role[] | null

export interface Team {
  /** By user. */
  readonly members: Map<string, Membership>
}

export interface User {
  readonly administrator: boolean
  /** By team. */
  readonly teams: Map<string, Membership>
  readonly keyIds: Set<string>
  readonly sessionIds: Set<string>
}

export interface ApiKey extends ApiKeyIssued {
  /** The first use of the last day on which it was used. */
  readonly last_used_at: Instant | null
}

export const emptyDirectory = (): Directory => ({
  teams: new Map(),
  users: new Map(),
  keys: new Map(),
  keyIds: new Map(),
  made: new Map(),
  revoked: new Map(),
  deletedProjects: new Map(),
})

const newTeam = (): Team => ({ members: new Map() })
const newUser = (administrator: boolean): User => ({
  administrator,
  teams: new Map(),
  keyIds: new Set(),
  sessionIds: new Set(),
})

/** Mutates the directory. */
export const evolve = (directory: Directory, event: AccessEvent): Directory => {
  const { teams, users } = directory
  switch (event.type) {
    case 'TeamCreated':
      teams.set(event.data.team, newTeam())
      return directory
    case 'UserCreated':
      users.set(event.data.user, newUser(event.data.administrator))
      return directory
    case 'MemberAdded':
      return withMembership(directory, event.data, event.data.roles)
    case 'MemberRemoved':
      return withMembership(directory, event.data, null)
    case 'ApiKeyIssued':
      return withIssued(directory, event.data)
    case 'SessionRenewed':
      return withKey(directory, event.data, { expires_at: event.data.expires_at })
    case 'ApiKeyUsed':
      return withKey(directory, event.data, { last_used_at: event.data.used_at })
    case 'ApiKeyRevoked':
      return withoutKey(directory, event.data.key_id)
    case 'ProjectDeleted':
      directory.deletedProjects.set(event.data.project_id, event.data)
      return directory
    default:
      // A newer release may have written an event type that this one does not know.
      return directory
  }
}

const withIssued = (directory: Directory, issued: ApiKeyIssued): Directory => {
  const { kind = 'key', scope = 'all', expires_at = null } = issued as Partial<ApiKeyIssued>
  const { key_id, hash } = issued
  withoutKey(directory, key_id)
  directory.revoked.delete(key_id)
  const made_by = directory.keys.has(issued.made_by ?? '') ? issued.made_by : null
  const user = entry(directory.users, issued.user, () => newUser(false))
  if (kind === 'session') withoutOver(directory, user, issued.issued_at)
  idsOf(user, kind).add(key_id)
  directory.keys.set(key_id, { ...issued, kind, scope, expires_at, made_by, last_used_at: null })
  directory.keyIds.set(hash, key_id)
  if (made_by !== null) entry(directory.made, made_by, () => new Set()).add(key_id)
  return directory
}

const idsOf = ({ keyIds, sessionIds }: User, kind: ApiKey['kind']): Set<string> =>
  kind === 'session' ? sessionIds : keyIds

/** Removes the sessions of a user that are over by now, so that the directory does not grow with each sign-in. */
const withoutOver = (directory: Directory, { sessionIds }: User, now: Instant): void => {
  for (const id of sessionIds) if (isOver(directory.keys.get(id)!, now)) withoutKey(directory, id)
}

/**
 * Removes a key or session, and the sessions that it opened. The other keys that it made count as made by its maker from
 * now on.
 */
const withoutKey = (directory: Directory, key_id: string): Directory => {
  const { keys, keyIds, made, users, revoked } = directory
  const key = keys.get(key_id)
  if (key === undefined) return directory
  for (const id of made.get(key_id) ?? []) if (keys.get(id)!.kind === 'session') withoutKey(directory, id)
  for (const id of made.get(key_id) ?? []) {
    keys.set(id, { ...keys.get(id)!, made_by: key.made_by })
    if (key.made_by !== null) made.get(key.made_by)?.add(id)
  }
  if (key.made_by !== null) made.get(key.made_by)?.delete(key_id)
  made.delete(key_id)
  keys.delete(key_id)
  keyIds.delete(key.hash)
  idsOf(users.get(key.user)!, key.kind).delete(key_id)
  if (key.kind === 'key') revoked.set(key_id, key.user)
  return directory
}

/** How far the clocks of two processes may differ. */
export const CLOCK_SKEW_MS = 5 * 60_000

/** Whether a key or session has expired, or is a session of the future: its sign-in had a wrong clock. */
export const isOver = ({ kind, issued_at, expires_at }: ApiKey, now: Instant): boolean =>
  (expires_at !== null && expires_at <= now) ||
  (kind === 'session' && issued_at > now && Date.parse(issued_at) > Date.parse(now) + CLOCK_SKEW_MS)

const withMembership = (
  directory: Directory,
  { team, user }: { readonly team: string; readonly user: string },
  membership: Membership,
): Directory => {
  entry(directory.teams, team, newTeam).members.set(user, membership)
  entry(directory.users, user, () => newUser(false)).teams.set(team, membership)
  return directory
}

const withKey = (
  directory: Directory,
  { key_id }: { readonly key_id: string },
  changed: Partial<ApiKey>,
): Directory => {
  const key = directory.keys.get(key_id)
  if (key !== undefined) directory.keys.set(key_id, { ...key, ...changed })
  return directory
}

const entry = <A>(map: Map<string, A>, key: string, make: () => A): A => {
  const found = map.get(key) ?? make()
  map.set(key, found)
  return found
}
