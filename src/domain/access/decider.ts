import { nothing, refused, type Decider, type Decision } from '../../kernel/decider.js'
import type {
  AccessCommand,
  AddMember,
  Bootstrap,
  DeleteProject,
  IssueApiKey,
  NewApiKey,
  RecordKeyUse,
  RemoveMember,
  RenewSession,
  RevokeApiKey,
} from './commands.js'
import type { Instant } from '../../kernel/codec/instant.js'
import { emptyDirectory, evolve, isOver, type ApiKey, type Directory, type User } from './directory.js'
import type { AccessEvent } from './events.js'
import { isAdministrator, isFirstUseOfDay, keysOf, latestExpiry, madeBy, rolesIn } from './look-ups.js'
import { mayRevokeKeysOf, missingRight } from './rights.js'
import { roleSet } from './roles.js'

type Decided = Decision<AccessEvent>

const decide = (directory: Directory, command: AccessCommand): Decided => {
  switch (command.type) {
    case 'Bootstrap':
      return directory.users.size === 0 ? bootstrap(command) : nothing
    case 'CreateTeam': {
      const { by, team } = command
      if (!isAdministrator(directory, by)) return refused('forbidden', 'This requires the administrator key.')
      if (RESERVED.has(team.toLowerCase()))
        return refused('conflict', `The addresses of the service begin with ${team}. Choose another name.`)
      if (directory.teams.has(team)) return refused('conflict', `A team named ${team} already exists.`)
      return { events: [{ type: 'TeamCreated', data: { team } }] }
    }
    case 'AddMember':
      return addMember(directory, command)
    case 'RemoveMember':
      return removeMember(directory, command)
    case 'IssueApiKey':
      return issueApiKey(directory, command)
    case 'RevokeApiKey':
      return revokeApiKey(directory, command)
    case 'RenewSession':
      return renewSession(directory, command)
    case 'RecordKeyUse':
      return recordKeyUse(directory, command)
    case 'DeleteProject':
      return deleteProject(directory, command)
    default:
      return command satisfies never
  }
}

/** First parts of paths of the service, which a team's pages would have too. */
const RESERVED = new Set(
  (
    '- . .. api v1 v2 traces tags aliases call calls obj objs table file files feedback cost refs trace usage evaluations ' +
    'leaderboards graphql health metrics server_info openapi.json assets'
  ).split(' '),
)

const bootstrap = ({ user, team, key }: Bootstrap): Decided => ({
  events: [
    { type: 'UserCreated', data: { user, administrator: true } },
    { type: 'TeamCreated', data: { team } },
    { type: 'MemberAdded', data: { team, user, roles: ['team_administrator'] } },
    { type: 'ApiKeyIssued', data: { ...key, user } },
  ],
})

const addMember = (directory: Directory, { by, team, user, roles, keyOfNewUser }: AddMember): Decided => {
  const missing = missingRight(directory, by, team, 'team_administrator')
  if (missing !== undefined) return { events: [], refused: missing }
  const added: AccessEvent = { type: 'MemberAdded', data: { team, user, roles: roleSet(roles) } }
  if (!directory.users.has(user))
    return {
      events: [
        { type: 'UserCreated', data: { user, administrator: false } },
        added,
        { type: 'ApiKeyIssued', data: { ...bounded(directory, keyOfNewUser), user } },
      ],
    }
  if (!mayAdmit(directory, by, user))
    return refused(
      'forbidden',
      `The user ${user} belongs to other teams. Adding them to this team requires the administrator key.`,
    )
  const known = rolesIn(directory, user, team)
  return known.join() === added.data.roles.join() ? nothing : { events: [added] }
}

/**
 * A team administrator may only add users from teams they administer. Otherwise they could pull in strangers, or an
 * impostor who took the name first.
 */
const mayAdmit = (directory: Directory, by: string, user: string): boolean =>
  isAdministrator(directory, by) ||
  [...(directory.users.get(user)?.teams ?? [])].some(([team]) =>
    rolesIn(directory, by, team).includes('team_administrator'),
  )

const removeMember = (directory: Directory, { by, team, user }: RemoveMember): Decided => {
  const missing = missingRight(directory, by, team, 'team_administrator')
  if (missing !== undefined) return { events: [], refused: missing }
  const membership = directory.teams.get(team)?.members.get(user)
  if (membership === undefined) return refused('not-found', 'Member not found in the team.')
  return membership === null ? nothing : { events: [{ type: 'MemberRemoved', data: { team, user } }] }
}

/** Keys and sessions of one user; a sign-in or a request with a key beyond them is refused. */
export const MOST_KEYS = 1000
export const MOST_SESSIONS = 200

const issueApiKey = (directory: Directory, { user, key: asked }: IssueApiKey): Decided => {
  const owner = directory.users.get(user)
  if (owner === undefined) return refused('not-found', 'User not found.')
  const key = bounded(directory, asked)
  const known = directory.keys.get(key.key_id)
  if (known?.user === user)
    return known.name === key.name && known.scope === key.scope && known.expires_at === key.expires_at
      ? nothing
      : refused('conflict', 'The Idempotency-Key was already used for another API key. Use a new key.')
  if (directory.revoked.get(key.key_id) === user)
    return refused('conflict', 'The Idempotency-Key was used for an API key that is revoked. Use a new key.')
  if (known !== undefined || directory.revoked.has(key.key_id) || directory.keyIds.has(key.hash))
    return refused('conflict', 'This API key already exists.')
  // Only the command line issues keys without a maker, to a user who may have lost all others.
  if (key.made_by !== null) {
    if (!directory.keys.has(key.made_by))
      return refused('forbidden', 'The API key or session of this request has just ended.')
    if (key.kind === 'key' && owner.keyIds.size >= MOST_KEYS)
      return refused('conflict', `A user has at most ${MOST_KEYS} API keys. Revoke some that are not in use.`)
    if (key.kind === 'session' && sessionsAt(directory, owner, key.issued_at) >= MOST_SESSIONS)
      return refused(
        'conflict',
        `A user has at most ${MOST_SESSIONS} sessions. End them with DELETE /api/sessions?all=true and an API key, or sign out elsewhere.`,
      )
  }
  return { events: [{ type: 'ApiKeyIssued', data: { ...key, user } }] }
}

const sessionsAt = ({ keys }: Directory, { sessionIds }: User, now: Instant): number =>
  [...sessionIds].filter((id) => !isOver(keys.get(id)!, now)).length

/** Ends a new key or session no later than what makes it. */
const bounded = (directory: Directory, key: NewApiKey): NewApiKey => {
  const latest = key.made_by === null ? null : latestExpiry(directory, key.made_by)
  return latest === null || (key.expires_at !== null && key.expires_at <= latest)
    ? key
    : { ...key, expires_at: latest }
}

const renewSession = (directory: Directory, { user, key_id, expires_at: asked }: RenewSession): Decided => {
  const key = directory.keys.get(key_id)
  if (key?.user !== user || key.kind !== 'session') return nothing
  const latest = latestExpiry(directory, key_id)
  const expires_at = latest !== null && latest < asked ? latest : asked
  if (key.expires_at !== null && key.expires_at >= expires_at) return nothing
  return { events: [{ type: 'SessionRenewed', data: { key_id, user, expires_at } }] }
}

const recordKeyUse = (directory: Directory, { user, key_id, used_at }: RecordKeyUse): Decided => {
  const key = directory.keys.get(key_id)
  if (key?.user !== user || !isFirstUseOfDay(key, used_at)) return nothing
  return { events: [{ type: 'ApiKeyUsed', data: { key_id, user, used_at } }] }
}

const revokeApiKey = (directory: Directory, { by, user, key_id, cascade }: RevokeApiKey): Decided => {
  const isAllowed = mayRevokeKeysOf(directory, by, user)
  if (directory.revoked.get(key_id) === user && isAllowed) return nothing
  const key = directory.keys.get(key_id)
  if (key?.user !== user || !isAllowed) return refused('not-found', 'API key not found.')
  const administrates = isAdministrator(directory, by)
  // The first key of another user, who was added with this key: only an administrator revokes it.
  const made = [...madeBy(directory, key_id)].filter((one) => administrates || one.user === user)
  const ending = [key, ...(cascade ? made.filter(({ kind }) => kind === 'key') : [])]
  if (ending.some(isLasting) && leavesAnAdministratorWithout(directory, ending))
    return refused(
      'conflict',
      "The administrator's last API key that does not expire cannot be revoked. Create another one first.",
    )
  return {
    events: ending.map((one) => ({
      type: 'ApiKeyRevoked' as const,
      data: { key_id: one.key_id, user: one.user },
    })),
  }
}

/** Whether an administrator would have no key left with all rights that does not expire. */
const leavesAnAdministratorWithout = (directory: Directory, ending: readonly ApiKey[]): boolean => {
  const ids = new Set(ending.map(({ key_id }) => key_id))
  const users = new Set(ending.filter(isLasting).map(({ user }) => user))
  const keeps = (user: string) =>
    [...keysOf(directory, user)].some((key) => isLasting(key) && !ids.has(key.key_id))
  return [...users].some((user) => isAdministrator(directory, user) && !keeps(user))
}

const isLasting = ({ kind, scope, expires_at }: ApiKey): boolean =>
  kind === 'key' && scope === 'all' && expires_at === null

const deleteProject = (directory: Directory, { deleted }: DeleteProject): Decided => {
  const { team, project_id, deleted_by } = deleted
  const missing = missingRight(directory, deleted_by, team, 'team_administrator')
  if (missing !== undefined) return { events: [], refused: missing }
  return directory.deletedProjects.has(project_id)
    ? nothing
    : { events: [{ type: 'ProjectDeleted', data: deleted }] }
}

/** Decides on users, teams, memberships and API keys together, in the single stream `access-directory`. */
export const accessDecider: Decider<Directory, AccessCommand, AccessEvent> = {
  initialState: emptyDirectory,
  evolve,
  decide,
}
