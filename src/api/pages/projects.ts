import type { Services } from '../../application/services.js'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { int64, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { teamProjects } from '../../projections/calls/team-projects.js'
import { roleInTeam } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { readPresent } from '../server/route-kinds.js'

const teamProject = open('TeamProject', {
  says: 'A project with calls or versions of objects. `calls` counts deleted ones too.',
  required: { name: string, calls: int64, last_call_at: nullable(instant), object_versions: int64 },
})

export const teamProjectsRoute = (services: Pick<Services, 'access' | 'reading'>): AnyRoute =>
  readPresent(services, {
    method: 'get',
    path: '/api/teams/:team/projects',
    summary: 'The projects of a team, the one with the last call first.',
    response: open('TeamProjects', { required: { data: arrayOf(teamProject) } }),
    authorization: roleInTeam(services.access, 'member'),
    scope: ({ team }) => team,
    handle:
      ({ team, reader }) =>
      async () => ({ body: { data: await teamProjects(reader, team) } }),
  })
