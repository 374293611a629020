import type { Instant } from '../../kernel/codec/instant.js'
import type { AccessEvent, ApiKeyIssued } from './events.js'
import type { Role } from './roles.js'

/** Users with their teams, roles and API keys: the fold of `access-directory`. */
export interface Directory {
  readonly teams: Map<string, Team>
  readonly users: Map<string, User>
  /** By id, including revoked keys. */
  readonly keys: Map<string, ApiKey>
  /** Key ids by key hash. */
  readonly keyIds: Map<string, string>
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
}

export interface ApiKey extends ApiKeyIssued {
  readonly revoked: boolean
  /** The first use of the last day on which it was used. */
  readonly last_used_at: Instant | null
}

export const emptyDirectory = (): Directory => ({
  teams: new Map(),
  users: new Map(),
  keys: new Map(),
  keyIds: new Map(),
})

const newTeam = (): Team => ({ members: new Map() })
const newUser = (administrator: boolean): User => ({ administrator, teams: new Map(), keyIds: new Set() })

/** Mutates the directory. */
export const evolve = (directory: Directory, event: AccessEvent): Directory => {
  const { teams, users, keys, keyIds } = directory
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
    case 'ApiKeyIssued': {
      const { user, key_id, hash } = event.data
      entry(users, user, () => newUser(false)).keyIds.add(key_id)
      const { kind = 'key', scope = 'all', expires_at = null } = event.data as Partial<ApiKeyIssued>
      keys.set(key_id, { ...event.data, kind, scope, expires_at, revoked: false, last_used_at: null })
      keyIds.set(hash, key_id)
      return directory
    }
    case 'SessionRenewed':
      return withKey(directory, event.data, { expires_at: event.data.expires_at })
    case 'ApiKeyUsed':
      return withKey(directory, event.data, { last_used_at: event.data.used_at })
    case 'ApiKeyRevoked':
      return withKey(directory, event.data, { revoked: true })
    default:
      // A newer release may have written an event type that this one does not know.
      return directory
  }
}

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
