import { userName } from '../../domain/access/events.js'
import { membersOf } from '../../domain/access/look-ups.js'
import { role, roleSet, type Role } from '../../domain/access/roles.js'
import { arrayOf, nullable } from '../../domain/codec/containers.js'
import { string } from '../../domain/codec/leaves.js'
import { closed, open } from '../../domain/codec/struct.js'
import type { Access } from '../auth/access.js'
import { makeKey, type KeyPorts } from '../auth/new-key.js'
import { throwIfRefused, requireRole } from '../auth/rights.js'
import { readsDirectory, writesDirectory } from '../conduct.js'
import { invalidField } from '../failure.js'
import { route, type AnyRoute } from '../route.js'
import { pageOf, pageQuery, takePage, askedPage } from './page.js'
import { done, neverStored } from './answers.js'

const PATH = '/api/teams/:team/members'

/** Outside a team it is not to be seen, inside it a role is needed. */
const rights = ['not-found', 'forbidden'] as const

const newMember = closed('NewMember', {
  required: { user: userName },
  optional: { role: nullable(role), roles: nullable(arrayOf(role, 1)) },
})

const member = open('Member', { required: { user: userName, roles: arrayOf(role) } })

const addedMember = open('AddedMember', {
  required: { user: userName, roles: arrayOf(role), api_key: nullable(string) },
})

export const listMembers = (access: Pick<Access, 'directory'>): AnyRoute =>
  route({
    method: 'get',
    path: PATH,
    summary: "Lists a team's members by name. Needs the role team_administrator.",
    query: pageQuery,
    ...readsDirectory,
    errors: [...readsDirectory.errors, ...rights],
    response: { schema: pageOf(member).schema, headers: [] },
    handle: async ({ params, query, principal }) => {
      const team = params['team']!
      requireRole(access, principal, team, 'team_administrator')
      const directory = access.directory()
      return {
        body: takePage(
          askedPage(query),
          (after) => membersOf(directory, team, after),
          ({ user }) => user,
        ),
      }
    },
  })

export const addMember = (ports: KeyPorts, access: Pick<Access, 'run'>): AnyRoute =>
  route({
    method: 'post',
    path: PATH,
    summary:
      'Gives a user exactly these roles in a team. A user who did not exist comes into being, and the answer carries ' +
      'their API key, once. Needs the role team_administrator.',
    body: newMember,
    ...writesDirectory,
    errors: [...writesDirectory.errors, ...rights],
    response: { schema: addedMember.schema },
    handle: async ({ body, params, principal, cause }) => {
      const { user } = body
      const roles = rolesOf(body)
      const { key, known } = makeKey(ports, null)
      const { state, refusals, position } = await access.run(
        { type: 'AddMember', by: principal.userId, team: params['team']!, user, roles, keyOfNewUser: known },
        cause,
      )
      throwIfRefused(refusals.get(0))
      const api_key = state.keys.has(known.key_id) ? key : null
      return { body: { user, roles, api_key }, position, headers: neverStored }
    },
  })

const rolesOf = ({ role, roles }: { role: Role | null; roles: readonly Role[] | null }): readonly Role[] => {
  if (role !== null && roles !== null)
    throw invalidField(['role'], 'value_error', 'Give either role or roles, not both')
  if (role !== null) return [role]
  if (roles !== null) return roleSet(roles)
  throw invalidField(['role'], 'missing', 'Field required')
}

export const removeMember = (access: Pick<Access, 'run'>): AnyRoute =>
  route({
    method: 'delete',
    path: `${PATH}/:user`,
    summary:
      'Takes a user out of a team; their keys stay valid elsewhere. Needs the role team_administrator.',
    ...writesDirectory,
    errors: [...writesDirectory.errors, ...rights],
    response: done,
    handle: async ({ params, principal, cause }) => {
      const { refusals, position } = await access.run(
        { type: 'RemoveMember', by: principal.userId, team: params['team']!, user: params['user']! },
        cause,
      )
      throwIfRefused(refusals.get(0))
      return { body: {}, position }
    },
  })
