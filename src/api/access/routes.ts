import type { Services } from '../../application/services.js'
import type { AnyRoute } from '../server/route.js'
import {
  createApiKey,
  listApiKeys,
  listCredentials,
  listTeamKeys,
  revokeApiKey,
  revokeCredential,
  revokeTeamKey,
} from './api-keys.js'
import { sessionRoutes } from './sessions.js'
import { addMember, listMembers, removeMember } from './members.js'
import { userName } from '../../domain/access/events.js'
import { membershipsOf, isAdministrator } from '../../domain/access/look-ups.js'
import { role } from '../../domain/access/roles.js'
import { arrayOf } from '../../kernel/codec/containers.js'
import { boolean } from '../../kernel/codec/leaves.js'
import { open, closed } from '../../kernel/codec/struct.js'
import { addressable, teamName } from '../../kernel/ids.js'
import { anyKey } from '../server/authorization.js'
import { readDirectory, writeDirectory } from '../server/route-kinds.js'
import type { Directory } from '../../domain/access/directory.js'
import { sorted } from '../../kernel/sorted.js'
import { writing } from '../server/run.js'
import { pageOf, pageQuery, takePage } from '../server/page.js'

const newTeam = closed('NewTeam', { required: { name: addressable(teamName) } })
const team = open('Team', { required: { name: teamName } })

const createTeam = (services: Pick<Services, 'access'>): AnyRoute =>
  writeDirectory({
    method: 'post',
    path: '/api/teams',
    summary: 'Creates a team. Needs the administrator key; a duplicate name is a conflict.',
    body: newTeam,
    errors: ['forbidden', 'conflict'],
    response: team,
    authorization: anyKey,
    handle: ({ body: { name }, principal }) => {
      const command = { type: 'CreateTeam', by: principal.userId, team: name } as const
      return writing(
        (cause) => services.access.run(command, cause),
        () => ({ name }),
        () => ({ name }),
      )
    },
  })

const listTeams = (services: Pick<Services, 'access'>): AnyRoute =>
  readDirectory({
    method: 'get',
    path: '/api/teams',
    summary: "Lists the caller's teams by name; all teams for the administrator.",
    query: pageQuery,
    response: pageOf(team),
    authorization: anyKey,
    handle: ({ query: { after, limit }, principal: { userId } }) => {
      const directory = services.access.directory()
      return { body: takePage(teamsFor(directory, userId, after), { limit, keyOf: ({ name }) => name }) }
    },
  })

function* teamsFor(directory: Directory, user: string, after: string | undefined) {
  if (isAdministrator(directory, user))
    for (const name of sorted(directory.teams.keys(), after)) yield { name }
  else for (const { team } of membershipsOf(directory, user, after)) yield { name: team }
}

const membership = open('Membership', { required: { team: teamName, roles: arrayOf(role) } })
const me = open('Me', { required: { user: userName, administrator: boolean, teams: arrayOf(membership) } })

const showMe = (services: Pick<Services, 'access'>): AnyRoute =>
  readDirectory({
    method: 'get',
    path: '/api/users/me',
    summary: 'The user of the API key, with teams and roles.',
    response: me,
    authorization: anyKey,
    handle: ({ principal: { userId: user, administrator } }) => ({
      body: { user, administrator, teams: [...membershipsOf(services.access.directory(), user)] },
    }),
  })

export const accessRoutes = (
  services: Pick<Services, 'clock' | 'ids' | 'sha256' | 'access' | 'randomKey' | 'publicUrl'>,
): readonly AnyRoute[] => [
  createTeam(services),
  listTeams(services),
  listMembers(services),
  addMember(services),
  removeMember(services),
  showMe(services),
  listApiKeys(services),
  listTeamKeys(services),
  createApiKey(services),
  revokeApiKey(services),
  listCredentials(services),
  revokeCredential(services),
  revokeTeamKey(services),
  ...sessionRoutes(services),
]
