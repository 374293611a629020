import { automationsOf } from '../../application/webhooks/current-state.js'
import type { Services } from '../../application/services.js'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { boolean, int64, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { textUpToCharacters } from '../../kernel/codec/text.js'
import { teamProjects } from '../../projections/calls/team-projects.js'
import { roleInTeam } from '../server/authorization.js'
import { integerInQuery } from '../server/integer-in-query.js'
import type { AnyRoute } from '../server/route.js'
import { readPresent } from '../server/route-kinds.js'

const MAX_PROJECTS = 1000

const teamProject = open('TeamProject', {
  says:
    'A project with calls, versions of objects or artifacts, or runs. `calls` includes deleted calls; `automations` counts ' +
    'automations of this project and of all projects of the team.',
  required: {
    name: string,
    calls: int64,
    last_call_at: nullable(instant),
    object_versions: int64,
    artifacts: int64,
    runs: int64,
    automations: int64,
  },
})

export const teamProjectsRoute = (
  services: Pick<Services, 'access' | 'reading' | 'eventStore' | 'ids'>,
): AnyRoute =>
  readPresent(services, {
    method: 'get',
    path: '/api/teams/:team/projects',
    summary: 'The projects of a team whose names contain `q`, the one with the last call first.',
    query: closed('TeamProjectsQuery', {
      optional: {
        q: withDefault(textUpToCharacters(128), ''),
        limit: withDefault(integerInQuery(1, MAX_PROJECTS), MAX_PROJECTS),
      },
    }),
    response: open('TeamProjects', { required: { data: arrayOf(teamProject), has_more: boolean } }),
    authorization: roleInTeam(services.access, 'member'),
    scope: ({ team }) => team,
    handle:
      ({ team, query: { q, limit }, reader }) =>
      async () => {
        const { deletedProjects } = services.access.directory()
        const deleted = [...deletedProjects.values()].filter((project) => project.team === team)
        const [found, automations] = await Promise.all([
          teamProjects(reader, { team, contains: q, limit: limit + 1 + deleted.length }),
          automationsOf(services, team),
        ])
        const projects = found.filter(({ name }) => !deletedProjects.has(`${team}/${name}`))
        const scopes = automations.map(({ content: { scope } }) => scope)
        const data = projects
          .slice(0, limit)
          .map((project) => ({
            ...project,
            automations: scopes.filter(
              (scope) => scope.type === 'project' && (scope.project ?? project.name) === project.name,
            ).length,
          }))
        return { body: { data, has_more: projects.length > limit } }
      },
  })
