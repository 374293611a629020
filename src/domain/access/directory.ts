import type { AccessEvent, ApiKeyIssued } from './events.js'
import { OrderedMap } from './ordered-map.js'
import type { Role } from './roles.js'

/** Who belongs where with which roles, and which keys are theirs: the fold of `access-directory`. */
export interface Directory {
  readonly teams: OrderedMap<Team>
  readonly users: OrderedMap<User>
  /** By id, revoked ones too. */
  readonly keys: OrderedMap<ApiKey>
  /** From a key's hash to its id. */
  readonly keyIds: OrderedMap<string>
}

/** The roles of a member; null once they have left. */
type Membership = readonly Role[] | null

export interface Team {
  /** By user. */
  readonly members: OrderedMap<Membership>
}

export interface User {
  readonly administrator: boolean
  /** By team. */
  readonly teams: OrderedMap<Membership>
  readonly keyIds: OrderedMap<true>
}

export interface ApiKey extends ApiKeyIssued {
  readonly revoked: boolean
}

export const emptyDirectory: Directory = {
  teams: new OrderedMap(),
  users: new OrderedMap(),
  keys: new OrderedMap(),
  keyIds: new OrderedMap(),
}

const newTeam: Team = { members: new OrderedMap() }
const newUser: User = { administrator: false, teams: new OrderedMap(), keyIds: new OrderedMap() }

/** The directory after one more event, in O(log n); the one before stays as it was. */
export const evolve = (directory: Directory, event: AccessEvent): Directory => {
  const { teams, users, keys, keyIds } = directory
  switch (event.type) {
    case 'TeamCreated':
      return { ...directory, teams: teams.set(event.data.team, newTeam) }
    case 'UserCreated':
      return {
        ...directory,
        users: users.set(event.data.user, { ...newUser, administrator: event.data.administrator }),
      }
    case 'MemberAdded':
      return withMembership(directory, event.data, event.data.roles)
    case 'MemberRemoved':
      return withMembership(directory, event.data, null)
    case 'ApiKeyIssued': {
      const key = { ...event.data, revoked: false }
      const user = users.get(key.user) ?? newUser
      return {
        ...directory,
        users: users.set(key.user, { ...user, keyIds: user.keyIds.set(key.key_id, true) }),
        keys: keys.set(key.key_id, key),
        keyIds: keyIds.set(key.hash, key.key_id),
      }
    }
    case 'ApiKeyRevoked': {
      const key = keys.get(event.data.key_id)
      return key === undefined
        ? directory
        : { ...directory, keys: keys.set(key.key_id, { ...key, revoked: true }) }
    }
    default:
      // A newer process may already write events that this one does not know.
      return directory
  }
}

const withMembership = (
  directory: Directory,
  { team: teamName, user: userName }: { readonly team: string; readonly user: string },
  membership: Membership,
): Directory => {
  const team = directory.teams.get(teamName) ?? newTeam
  const user = directory.users.get(userName) ?? newUser
  return {
    ...directory,
    teams: directory.teams.set(teamName, { ...team, members: team.members.set(userName, membership) }),
    users: directory.users.set(userName, { ...user, teams: user.teams.set(teamName, membership) }),
  }
}
