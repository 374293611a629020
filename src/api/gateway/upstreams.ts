import type * as t from 'io-ts'
import type { Ports } from '../../kernel/ports/ports.js'
import { open } from '../../kernel/codec/struct.js'
import { withDefault } from '../../kernel/codec/containers.js'
import { teamName } from '../../kernel/ids.js'
import type { Upstreams, Upstream } from '../../domain/gateway/upstreams/directory.js'
import { repeatableId } from '../server/idempotency.js'
import { pageFields, pageOf, takePage } from '../server/page.js'
import type { AnyRoute, RouteRequest } from '../server/route.js'
import { readDirectory, idempotent, writeDirectory } from '../server/route-kinds.js'
import type { GatewayServices } from '../../gateway/gateway.js'
import { requireGoodUpstream, requireOwner, UPSTREAMS_PATH, written } from './managed-upstream.js'
import { newUpstream, upstreamJson, upstreamChange, upstreamView } from './upstream-codecs.js'
import { missingRight } from '../../domain/access/rights.js'
import { noSuchUpstream } from '../../domain/gateway/upstreams/decider.js'
import { throwIfRefused } from '../../application/access/rights.js'
import { definedFields } from '../../kernel/defined-fields.js'
import type { Authorization } from '../server/authorization.js'
import { emptyResponse } from '../server/empty-response.js'
import { Failure } from '../../application/failure.js'
import { writing } from '../server/run.js'

type UpstreamServices = Pick<GatewayServices, keyof Ports | 'access' | 'secrets' | 'vendor' | 'gateway'>

const createUpstream = (services: UpstreamServices): AnyRoute =>
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

const listUpstreams = (services: Pick<GatewayServices, 'clock' | 'access' | 'gateway'>): AnyRoute =>
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
    handle: ({ query: { team, after, limit } }) => {
      const listed = [...services.gateway.upstreams.all().values()]
        .filter((one) => (team === undefined || one.team === team) && (after === undefined || one.id > after))
        .sort((a, b) => (a.id < b.id ? -1 : 1))
      const { data, next } = takePage(listed, { limit, keyOf: ({ id }) => id })
      return { body: { data: data.map(upstreamView(services)), next } }
    },
  })

const PATH = `${UPSTREAMS_PATH}/:id`

/** The upstream that a path names. One of others is not there, nor is the operator's for anybody else. */
const ofUpstream = ({
  access,
  gateway,
}: Pick<GatewayServices, 'access' | 'gateway'>): Authorization<{ readonly upstream: Upstream }> => ({
  errors: ['not-found', 'forbidden'],
  authorize: ({ params, principal }) => {
    const upstream = gateway.upstreams.all().get(params['id']!)
    if (upstream === undefined || (upstream.team === null && !principal.administrator)) throw notFound()
    if (upstream.team === null) return { upstream }
    const missing = missingRight(access.directory(), principal.userId, upstream.team, 'team_administrator')
    if (missing?.kind === 'not-found') throw notFound()
    throwIfRefused(missing)
    return { upstream }
  },
})

const notFound = (): Failure => new Failure(noSuchUpstream.kind, noSuchUpstream.reason)

const showUpstream = (services: Pick<GatewayServices, 'clock' | 'access' | 'gateway'>): AnyRoute =>
  readDirectory({
    method: 'get',
    path: PATH,
    summary:
      'Reads an upstream, with the health of its models as seen by this process. Needs the role team_administrator in its team, or ' +
      'the administrator key for an upstream without a team.',
    response: upstreamJson,
    authorization: ofUpstream(services),
    handle: ({ upstream }) => ({ body: upstreamView(services)(upstream) }),
  })

const changeUpstream = (services: UpstreamServices): AnyRoute =>
  writeDirectory({
    method: 'patch',
    path: PATH,
    summary:
      'Updates an upstream. Absent fields keep their values, null removes an option, lists are replaced as a whole. Needs ' +
      'the role team_administrator in its team, or the administrator key for an upstream without a team.',
    body: upstreamChange,
    errors: ['conflict'],
    response: upstreamJson,
    authorization: ofUpstream(services),
    handle: async ({ upstream: { id, team }, body }) => {
      const change = definedFields(body)
      await requireGoodUpstream(services, team, change)
      const command = { type: 'ChangeUpstream', id, team, change } as const
      return written(services, id, (cause) => services.gateway.upstreams.execute(command, cause))
    },
  })

const deleteUpstream = (services: Pick<GatewayServices, 'access' | 'gateway'>): AnyRoute =>
  writeDirectory({
    method: 'delete',
    path: PATH,
    summary:
      'Permanently deletes an upstream. Running requests to it are completed. Needs the role team_administrator in its ' +
      'team, or the administrator key for an upstream without a team.',
    errors: ['conflict'],
    response: emptyResponse,
    authorization: ofUpstream(services),
    handle: ({ upstream: { id, team } }) =>
      writing((cause) => services.gateway.upstreams.execute({ type: 'DeleteUpstream', id, team }, cause)),
  })

export const upstreamRoutes = (services: UpstreamServices): readonly AnyRoute[] => [
  createUpstream(services),
  listUpstreams(services),
  showUpstream(services),
  changeUpstream(services),
  deleteUpstream(services),
]
