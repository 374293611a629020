import { missingRight } from '../../domain/access/rights.js'
import { noSuchUpstream } from '../../domain/gateway/upstreams/decider.js'
import type { Upstream } from '../../domain/gateway/upstreams/directory.js'
import { throwIfRefused } from '../../application/access/rights.js'
import { definedFields } from '../../kernel/defined-fields.js'
import type { Authorization } from '../server/authorization.js'
import { emptyResponse } from '../server/empty-response.js'
import { Failure } from '../../application/failure.js'
import type { AnyRoute } from '../server/route.js'
import { readDirectory, writeDirectory } from '../server/route-kinds.js'
import { writing } from '../server/run.js'
import type { GatewayServices } from '../../gateway/gateway.js'
import { upstreamView } from './upstream-view.js'
import { requireGoodUpstream, UPSTREAMS_PATH, written } from './managed-upstream.js'
import { upstreamChange, upstreamJson } from './upstream-codecs.js'

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

export const showUpstream = (services: Pick<GatewayServices, 'clock' | 'access' | 'gateway'>): AnyRoute =>
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

export const changeUpstream = (
  services: Pick<
    GatewayServices,
    'eventStore' | 'clock' | 'ids' | 'access' | 'secrets' | 'vendor' | 'gateway'
  >,
): AnyRoute =>
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

export const deleteUpstream = (services: Pick<GatewayServices, 'access' | 'gateway'>): AnyRoute =>
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
