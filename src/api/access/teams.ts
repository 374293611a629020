import { isAdministrator, membershipsOf } from '../../domain/access/look-ups.js'
import type { Directory } from '../../domain/access/directory.js'
import { open, closed } from '../../kernel/codec/struct.js'
import { teamName } from '../../kernel/ids.js'
import { sorted } from '../../kernel/sorted.js'
import type { Services } from '../../application/services.js'
import { anyKey } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { readDirectory, writeDirectory } from '../server/route-kinds.js'
import { writing } from '../server/run.js'
import { pageOf, pageQuery, takePage } from '../server/page.js'

const newTeam = closed('NewTeam', { required: { name: teamName } })
const team = open('Team', { required: { name: teamName } })

export const createTeam = (services: Pick<Services, 'access'>): AnyRoute =>
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
      return writing((cause) => services.access.run(command, cause), {
        respond: () => ({ body: { name } }),
        refusalBody: () => ({ name }),
      })
    },
  })

export const listTeams = (services: Pick<Services, 'access'>): AnyRoute =>
  readDirectory({
    method: 'get',
    path: '/api/teams',
    summary: "Lists the caller's teams by name; all teams for the administrator.",
    query: pageQuery,
    response: pageOf(team),
    authorization: anyKey,
    handle: ({ query, principal: { userId } }) => {
      const directory = services.access.directory()
      return {
        body: takePage(
          query,
          (after) => teamsFor(directory, userId, after),
          ({ name }) => name,
        ),
      }
    },
  })

function* teamsFor(directory: Directory, user: string, after: string | undefined) {
  if (isAdministrator(directory, user))
    for (const name of sorted(directory.teams.keys(), after)) yield { name }
  else for (const { team } of membershipsOf(directory, user, after)) yield { name: team }
}
