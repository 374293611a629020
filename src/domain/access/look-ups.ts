import type { Instant } from '../../kernel/codec/instant.js'
import { isOver, type ApiKey, type Directory } from './directory.js'
import type { KeyScope } from './events.js'
import type { Role } from './roles.js'
import { sorted, sortedAfter } from '../../kernel/sorted.js'

/** The user of a valid key. */
export interface KeyHolder {
  readonly userId: string
  readonly keyId: string
  readonly scope: KeyScope
  readonly administrator: boolean
  /** The user's teams, sorted by name. */
  readonly teams: readonly string[]
  /** The teams that the user administers. */
  readonly administers: readonly string[]
}

/** The user of a key or a session, by its SHA-256 in lower-case hexadecimal; undefined if it is not valid. */
export const principalOf = (
  directory: Directory,
  hash: string,
  kind: ApiKey['kind'],
  now: Instant,
): KeyHolder | undefined => {
  const keyId = directory.keyIds.get(hash)
  const key = keyId === undefined ? undefined : directory.keys.get(keyId)
  if (key?.kind !== kind || isOver(key, now)) return undefined
  return { ...principalOfUser(directory, key.user, key.key_id), scope: key.scope }
}

/** A user with their rights as of now, as if they came with a key. */
export const principalOfUser = (directory: Directory, userId: string, keyId: string): KeyHolder => {
  const memberships = [...membershipsOf(directory, userId)]
  return {
    userId,
    keyId,
    scope: 'all',
    administrator: isAdministrator(directory, userId),
    teams: memberships.map(({ team }) => team),
    administers: memberships
      .filter(({ roles }) => roles.includes('team_administrator'))
      .map(({ team }) => team),
  }
}

export const isAdministrator = ({ users }: Directory, user: string): boolean =>
  users.get(user)?.administrator ?? false

/** A user's roles in a team, empty for a non-member. */
export const rolesIn = ({ users }: Directory, user: string, team: string): readonly Role[] =>
  users.get(user)?.teams.get(team) ?? []

/** A user's teams, sorted by name, starting after `after`. */
export function* membershipsOf({ users }: Directory, user: string, after?: string) {
  for (const [team, roles] of sortedAfter(users.get(user)?.teams, after))
    if (roles !== null) yield { team, roles }
}

/** A team's members, sorted by name, starting after `after`. */
export function* membersOf({ teams }: Directory, team: string, after?: string) {
  for (const [user, roles] of sortedAfter(teams.get(team)?.members, after))
    if (roles !== null) yield { user, roles }
}

/** Whether a key was not used before on the day of this use, in UTC. */
export const isFirstUseOfDay = ({ last_used_at }: ApiKey, used_at: Instant): boolean =>
  last_used_at === null || last_used_at.slice(0, 10) < used_at.slice(0, 10)

/** A user's keys that are not revoked, expired ones too, sorted by id, starting after `after`. */
export function* keysOf({ users, keys }: Directory, user: string, after?: string): Generator<ApiKey> {
  for (const id of sorted(users.get(user)?.keyIds, after)) yield keys.get(id)!
}

/** A user's sessions, sorted by id. */
export function* sessionsOf({ users, keys }: Directory, user: string, now: Instant): Generator<ApiKey> {
  for (const id of sorted(users.get(user)?.sessionIds)) {
    const session = keys.get(id)!
    if (!isOver(session, now)) yield session
  }
}

/** The keys and sessions that a key or session made, and what those made. */
export function* madeBy(directory: Directory, keyId: string): Generator<ApiKey> {
  for (const id of directory.made.get(keyId) ?? []) {
    yield directory.keys.get(id)!
    yield* madeBy(directory, id)
  }
}

/** Until when at most that lives which a key or session makes: as long as the key, or the key that opened the session. */
export const latestExpiry = ({ keys }: Directory, keyId: string): Instant | null => {
  const maker = keys.get(keyId)
  const key = maker?.kind === 'session' ? keys.get(maker.made_by ?? '') : maker
  return key?.expires_at ?? null
}
