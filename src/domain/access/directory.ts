import type { AccessEvent, ApiKeyIssued } from './events.js'
import type { Role } from './roles.js'

/** Who belongs where with which roles, and which keys are theirs: the fold of `access-directory`. */
export interface Directory {
  readonly teams: Map<string, Team>
  readonly users: Map<string, User>
  /** By id, revoked ones too. */
  readonly keys: Map<string, ApiKey>
  /** From a key's hash to its id. */
  readonly keyIds: Map<string, string>
}

/** The roles of a member; null once they have left. */
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
}

export const emptyDirectory = (): Directory => ({
  teams: new Map(),
  users: new Map(),
  keys: new Map(),
  keyIds: new Map(),
})

const newTeam = (): Team => ({ members: new Map() })
const newUser = (administrator: boolean): User => ({ administrator, teams: new Map(), keyIds: new Set() })

/** Changes the directory by one event. */
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
      keys.set(key_id, { ...event.data, revoked: false })
      keyIds.set(hash, key_id)
      return directory
    }
    case 'ApiKeyRevoked': {
      const key = keys.get(event.data.key_id)
      if (key !== undefined) keys.set(key.key_id, { ...key, revoked: true })
      return directory
    }
    default:
      // A newer process may already write events that this one does not know.
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

const entry = <A>(map: Map<string, A>, key: string, make: () => A): A => {
  const found = map.get(key) ?? make()
  map.set(key, found)
  return found
}
