import { nothing, refused, type Decider, type Decision } from '../../kernel/decider.js'
import type {
  AccessCommand,
  AddMember,
  Bootstrap,
  IssueApiKey,
  RecordKeyUse,
  RemoveMember,
  RenewSession,
  RevokeApiKey,
} from './commands.js'
import { emptyDirectory, evolve, type ApiKey, type Directory } from './directory.js'
import type { AccessEvent } from './events.js'
import { isAdministrator, isFirstUseOfDay, keysOf, rolesIn } from './look-ups.js'
import { missingRight } from './rights.js'
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
        { type: 'ApiKeyIssued', data: { ...keyOfNewUser, user } },
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

const issueApiKey = (directory: Directory, { user, key }: IssueApiKey): Decided => {
  if (!directory.users.has(user)) return refused('not-found', 'User not found.')
  const known = directory.keys.get(key.key_id)
  if (known?.user === user)
    return known.name === key.name && known.scope === key.scope && known.expires_at === key.expires_at
      ? nothing
      : refused('conflict', 'The Idempotency-Key was already used for another API key. Use a new key.')
  if (directory.keys.has(key.key_id) || directory.keyIds.has(key.hash))
    return refused('conflict', 'This API key already exists.')
  return { events: [{ type: 'ApiKeyIssued', data: { ...key, user } }] }
}

const renewSession = (directory: Directory, { user, key_id, expires_at }: RenewSession): Decided => {
  const key = directory.keys.get(key_id)
  const isRenewable = key?.user === user && key.kind === 'session' && !key.revoked
  if (!isRenewable || (key.expires_at !== null && key.expires_at >= expires_at)) return nothing
  return { events: [{ type: 'SessionRenewed', data: { key_id, user, expires_at } }] }
}

const recordKeyUse = (directory: Directory, { user, key_id, used_at }: RecordKeyUse): Decided => {
  const key = directory.keys.get(key_id)
  if (key?.user !== user || key.revoked || !isFirstUseOfDay(key, used_at)) return nothing
  return { events: [{ type: 'ApiKeyUsed', data: { key_id, user, used_at } }] }
}

const revokeApiKey = (directory: Directory, { user, key_id }: RevokeApiKey): Decided => {
  const key = directory.keys.get(key_id)
  if (key?.user !== user) return refused('not-found', 'API key not found.')
  if (key.revoked) return nothing
  if (isAdministrator(directory, user) && hasNoOther(directory, key))
    return refused(
      'conflict',
      "The administrator's last API key that does not expire cannot be revoked. Create another one first.",
    )
  return { events: [{ type: 'ApiKeyRevoked', data: { key_id, user } }] }
}

/** Whether it is the only one of its user with all rights that does not expire. */
const hasNoOther = (directory: Directory, key: ApiKey): boolean =>
  key.kind === 'key' && isLasting(key) && [...keysOf(directory, key.user)].filter(isLasting).length === 1

const isLasting = ({ scope, expires_at }: ApiKey): boolean => scope === 'all' && expires_at === null

/** Decides on users, teams, memberships and API keys together, in the single stream `access-directory`. */
export const accessDecider: Decider<Directory, AccessCommand, AccessEvent> = {
  initialState: emptyDirectory,
  evolve,
  decide,
}
