import { userName } from '../../domain/access/events.js'
import { membersOf } from '../../domain/access/look-ups.js'
import { role, roleSet, type Role } from '../../domain/access/roles.js'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import type { Services } from '../../application/services.js'
import { makeKey } from '../../application/access/new-key.js'
import { anyKey, roleInTeam, type Authorization } from '../server/authorization.js'
import { emptyResponse } from '../server/empty-response.js'
import { hasRole } from '../../application/access/rights.js'
import { invalidField } from '../../application/failure.js'
import type { AnyRoute } from '../server/route.js'
import { readDirectory, writeDirectory } from '../server/route-kinds.js'
import { writing } from '../server/run.js'
import { pageOf, pageQuery, takePage } from '../server/page.js'

const PATH = '/api/teams/:team/members'

/** The directory's decider checks the role, because it decides on the latest state. */
const decided: Authorization<object> = { ...anyKey, errors: ['not-found', 'forbidden'] }

const newMember = closed('NewMember', {
  required: { user: userName },
  optional: { role: nullable(role), roles: nullable(arrayOf(role, 1)) },
})

const member = open('Member', {
  says: '`roles` is null unless a team administrator asks.',
  required: { user: userName },
  optional: { roles: nullable(arrayOf(role)) },
})

const addedMember = open('AddedMember', {
  says: '`expires_at` is when the key expires: with the key of the request, where that has an expiry.',
  required: {
    user: userName,
    roles: arrayOf(role),
    api_key: nullable(string),
    expires_at: nullable(instant),
  },
})

export const listMembers = (services: Pick<Services, 'access'>): AnyRoute =>
  readDirectory({
    method: 'get',
    path: PATH,
    summary:
      "Lists a team's members by name. Needs membership in the team; roles are shown to its administrators.",
    query: pageQuery,
    response: pageOf(member),
    authorization: roleInTeam(services.access, 'member'),
    handle: ({ team, query: { after, limit }, principal }) => {
      const directory = services.access.directory()
      const { data, next } = takePage(membersOf(directory, team, after), { limit, keyOf: ({ user }) => user })
      const showsRoles = hasRole(services.access, principal, team, 'team_administrator')
      return {
        body: { data: data.map(({ user, roles }) => ({ user, roles: showsRoles ? roles : null })), next },
      }
    },
  })

export const addMember = (
  services: Pick<Services, 'clock' | 'ids' | 'sha256' | 'access' | 'randomKey'>,
): AnyRoute =>
  writeDirectory({
    method: 'post',
    path: PATH,
    summary:
      'Sets the roles of a user in a team, or in one project or registry of it (`project_administrator:NAME`). A user who does not exist is created, and the response contains ' +
      'their API key once. Needs the role team_administrator.',
    body: newMember,
    response: addedMember,
    authorization: decided,
    handle: ({ body, params, principal: { userId: by, keyId: made_by } }) => {
      const { user } = body
      const roles = rolesOf(body)
      const { key, known } = makeKey(services, null)
      const command = {
        type: 'AddMember',
        by,
        team: params['team']!,
        user,
        roles,
        keyOfNewUser: { ...known, made_by },
      } as const
      return writing(
        (cause) => services.access.run(command, cause),
        ({ events }) => {
          const issued = events.find(({ type }) => type === 'ApiKeyIssued')
          const expires_at = issued?.type === 'ApiKeyIssued' ? issued.data.expires_at : null
          const api_key = issued === undefined ? null : key
          return { user, roles, api_key, expires_at }
        },
      )
    },
  })

const rolesOf = ({ role, roles }: { role: Role | null; roles: readonly Role[] | null }): readonly Role[] => {
  if (role !== null && roles !== null)
    throw invalidField(['role'], 'value_error', 'Give either role or roles, not both')
  if (role !== null) return [role]
  if (roles !== null) return roleSet(roles)
  throw invalidField(['role'], 'missing', 'Field required')
}

export const removeMember = (services: Pick<Services, 'access'>): AnyRoute =>
  writeDirectory({
    method: 'delete',
    path: `${PATH}/:user`,
    summary:
      'Removes a user from a team; their API keys stay valid for other teams. Needs the role team_administrator.',
    response: emptyResponse,
    authorization: decided,
    handle: ({ params, principal: { userId: by } }) => {
      const command = { type: 'RemoveMember', by, team: params['team']!, user: params['user']! } as const
      return writing((cause) => services.access.run(command, cause))
    },
  })
