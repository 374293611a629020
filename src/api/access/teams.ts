import { isAdministrator, membershipsOf } from '../../domain/access/look-ups.js'
import type { Directory } from '../../domain/access/directory.js'
import { open, closed } from '../../domain/codec/struct.js'
import { teamName } from '../../domain/ids.js'
import { sorted } from '../../domain/sorted.js'
import type { Access } from '../auth/access.js'
import { refuseIf } from '../auth/rights.js'
import { readsDirectory, writesDirectory } from '../conduct.js'
import { route, type AnyRoute } from '../route.js'
import { pageOf, pageQuery, takePage } from './page.js'

const newTeam = closed('NewTeam', { required: { name: teamName } })
const team = open('Team', { required: { name: teamName } })

export const createTeam = (access: Pick<Access, 'run'>): AnyRoute =>
  route({
    method: 'post',
    path: '/api/teams',
    summary: 'Creates a team. Needs the administrator key; a name that is taken is a conflict.',
    body: newTeam,
    ...writesDirectory,
    fails: [...writesDirectory.fails, 'forbidden', 'conflict'],
    answer: { schema: team.schema },
    handle: async ({ body: { name }, principal, cause }) => {
      const command = { type: 'CreateTeam', by: principal.userId, team: name } as const
      const { refusals, position } = await access.run(command, cause)
      refuseIf(refusals.get(0), { name })
      return { body: { name }, position }
    },
  })

export const listTeams = (access: Pick<Access, 'directory'>): AnyRoute =>
  route({
    method: 'get',
    path: '/api/teams',
    summary: "Lists the caller's teams by name; the administrator's list has them all.",
    query: pageQuery,
    ...readsDirectory,
    answer: { schema: pageOf(team).schema, headers: [] },
    handle: async ({ query, principal: { userId } }) => {
      const directory = access.directory()
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
