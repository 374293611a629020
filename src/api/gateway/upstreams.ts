import type { Ports } from '../../kernel/ports/ports.js'
import type * as t from 'io-ts'
import { open } from '../../kernel/codec/struct.js'
import { withDefault } from '../../kernel/codec/containers.js'
import { teamName } from '../../kernel/ids.js'
import type { Upstreams } from '../../domain/gateway/upstreams/directory.js'
import { repeatableId } from '../server/idempotency.js'
import { pageFields, pageOf, takePage } from '../server/page.js'
import type { AnyRoute, RouteRequest } from '../server/route.js'
import { readDirectory, idempotent, writeDirectory } from '../server/route-kinds.js'
import type { GatewayServices } from '../../gateway/gateway.js'
import { upstreamView } from './upstream-view.js'
import { requireGoodUpstream, requireOwner, UPSTREAMS_PATH, written } from './managed-upstream.js'
import { newUpstream, upstreamJson } from './upstream-codecs.js'

export const createUpstream = (
  services: Pick<GatewayServices, keyof Ports | 'access' | 'secrets' | 'vendor' | 'gateway'>,
): AnyRoute =>
  writeDirectory({
    method: 'post',
    path: UPSTREAMS_PATH,
    summary:
      'Creates an upstream of a team, or of all teams without `team`. A model name that another upstream serves ' +
      'is a conflict. So is a duplicate upstream name; the response has the id of the existing one. Needs the role ' +
      'team_administrator, or the administrator key for all teams.',
    body: newUpstream,
    ...idempotent,
    response: upstreamJson,
    authorization: {
      errors: ['not-found', 'forbidden'],
      authorize: ({ body: { team }, principal }: RouteRequest<t.TypeOf<typeof newUpstream>>) => {
        requireOwner(services, principal, team)
        return {}
      },
    },
    handle: async (request) => {
      const { team, ...content } = request.body
      await requireGoodUpstream(services, team, content)
      const id = repeatableId(services, request, team ?? '', 'upstream')
      const command = { type: 'CreateUpstream', id, team, content } as const
      return written(
        services,
        id,
        (cause) => services.gateway.upstreams.execute(command, cause),
        (state) => (state.has(id) ? {} : namesake(state, team, content.name)),
      )
    },
  })

/** The id of the upstream that has a name already, if it is the name that is taken. */
const namesake = (upstreams: Upstreams, team: string | null, name: string): { readonly id?: string } => {
  const holder = [...upstreams.values()].find((one) => one.team === team && one.content.name === name)
  return holder === undefined ? {} : { id: holder.id }
}

const listQuery = open('UpstreamsAsked', {
  optional: { team: withDefault(teamName, undefined), ...pageFields },
})

export const listUpstreams = (services: Pick<GatewayServices, 'clock' | 'access' | 'gateway'>): AnyRoute =>
  readDirectory({
    method: 'get',
    path: UPSTREAMS_PATH,
    summary:
      'Lists the upstreams of a team, or all without `team`, ordered by id, with the health of their models. ' +
      'Needs the role team_administrator, or the administrator key for all.',
    query: listQuery,
    response: pageOf(upstreamJson),
    authorization: {
      errors: ['not-found', 'forbidden'],
      authorize: ({ query: { team }, principal }: RouteRequest<unknown, t.TypeOf<typeof listQuery>>) => {
        requireOwner(services, principal, team ?? null)
        return {}
      },
    },
    handle: ({ query }) => {
      const { team, after, limit } = query
      const listed = [...services.gateway.upstreams.all().values()]
        .filter((one) => (team === undefined || one.team === team) && (after === undefined || one.id > after))
        .sort((a, b) => (a.id < b.id ? -1 : 1))
      const { data, next } = takePage(listed, { limit, keyOf: ({ id }) => id })
      return { body: { data: data.map(upstreamView(services)), next } }
    },
  })
