import { invalidField } from '../../application/failure.js'
import type { GatewayServices } from '../../gateway/gateway.js'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { instant, microseconds } from '../../kernel/codec/instant.js'
import { int64, number, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { modelRequests } from '../../projections/calls/model-requests.js'
import { roleInTeam } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { readPresent } from '../server/route-kinds.js'

const DAY = 86_400_000_000n
const MAX_PROJECTS = 100

const figures = { requests: int64, errors: int64, p50_ms: nullable(number) }

export const modelRequestsRoute = (
  services: Pick<GatewayServices, 'access' | 'reading' | 'gateway'>,
): AnyRoute =>
  readPresent(services, {
    method: 'get',
    path: '/api/pages/teams/:team/models',
    summary:
      'The requests of a team for each model of its upstreams that started in a range of at most a day.',
    query: closed('ModelRequestsQuery', { required: { start: instant, end: instant } }),
    response: open('ModelRequestsAnswer', {
      required: {
        data: arrayOf(
          open('ModelRequests', {
            says:
              '`p50_ms` is of requests that ended. `projects` are the ' +
              `${MAX_PROJECTS} with the most requests. Models without requests are left out.`,
            required: {
              model: string,
              ...figures,
              projects: arrayOf(
                open('ModelRequestsOfProject', { required: { project: string, ...figures } }),
              ),
            },
          }),
        ),
      },
    }),
    authorization: roleInTeam(services.access, 'member'),
    scope: ({ team }) => `${team}/`,
    handle: ({ team, query: { start, end }, reader }) => {
      if (microseconds(end) - microseconds(start) > DAY)
        throw invalidField(['end'], 'value_error', 'Value error, end should be at most a day after start')
      const models = [...services.gateway.upstreams.all().values()]
        .filter((upstream) => upstream.team === null || upstream.team === team)
        .flatMap(({ content }) => content.models.map(({ id }) => id))
      const asked = { team, models, began: { from: start, to: end }, maxProjects: MAX_PROJECTS }
      return async (position) => ({ body: { data: await modelRequests(reader, { ...asked, position }) } })
    },
  })
