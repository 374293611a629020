import type { ApiKey, Directory } from './directory.js'
import type { Role } from './roles.js'
import { sorted, sortedAfter } from '../sorted.js'

/** Who a valid key stands for. */
export interface KeyHolder {
  readonly userId: string
  readonly keyId: string
  readonly administrator: boolean
  /** The user's teams, sorted by name. */
  readonly teams: readonly string[]
  /** Those of them whose administrator the user is. */
  readonly administers: readonly string[]
}

/** Whom the key of this hash (SHA-256, lower-case hexadecimal) stands for; undefined if it is not valid. */
export const principalOf = (directory: Directory, hash: string): KeyHolder | undefined => {
  const keyId = directory.keyIds.get(hash)
  const key = keyId === undefined ? undefined : directory.keys.get(keyId)
  if (key === undefined || key.revoked) return undefined
  return principalOfUser(directory, key.user, key.key_id)
}

/** A user with their rights as of now, as if they came with a key. */
export const principalOfUser = (directory: Directory, userId: string, keyId: string): KeyHolder => {
  const memberships = [...membershipsOf(directory, userId)]
  return {
    userId,
    keyId,
    administrator: isAdministrator(directory, userId),
    teams: memberships.map(({ team }) => team),
    administers: memberships
      .filter(({ roles }) => roles.includes('team_administrator'))
      .map(({ team }) => team),
  }
}

export const isAdministrator = ({ users }: Directory, user: string): boolean =>
  users.get(user)?.administrator ?? false

/** A user's roles in a team; none for a user outside it. */
export const rolesIn = ({ users }: Directory, user: string, team: string): readonly Role[] =>
  users.get(user)?.teams.get(team) ?? []

/** The teams of a user by name, those behind `after`. */
export function* membershipsOf({ users }: Directory, user: string, after?: string) {
  for (const [team, roles] of sortedAfter(users.get(user)?.teams, after))
    if (roles !== null) yield { team, roles }
}

/** The members of a team by name, those behind `after`. */
export function* membersOf({ teams }: Directory, team: string, after?: string) {
  for (const [user, roles] of sortedAfter(teams.get(team)?.members, after))
    if (roles !== null) yield { user, roles }
}

/** The keys of a user that are valid, by id, those behind `after`. */
export function* keysOf({ users, keys }: Directory, user: string, after?: string): Generator<ApiKey> {
  for (const id of sorted(users.get(user)?.keyIds, after)) {
    const key = keys.get(id)
    if (key !== undefined && !key.revoked) yield key
  }
}
