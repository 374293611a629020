import { missingRight } from '../../../domain/access/rights.js'
import { noSuchUpstream } from '../../../domain/upstream/decider.js'
import type { Upstream } from '../../../domain/upstream/directory.js'
import { done } from '../../access/answers.js'
import { throwIfRefused } from '../../auth/rights.js'
import { given } from '../../automations/given.js'
import { writesDirectory } from '../../conduct.js'
import { Failure } from '../../failure.js'
import { route, type AnyRoute, type RouteRequest } from '../../route.js'
import type { UpstreamManaging } from '../inference.js'
import { requireGoodUpstream, UPSTREAMS_PATH, written } from './managed-upstream.js'
import { upstreamChange, upstreamJson } from './upstream-codecs.js'

const PATH = `${UPSTREAMS_PATH}/:id`
const rights = ['not-found', 'forbidden'] as const

/** The upstream that a path names. One of others is not there, nor is the operator's for anybody else. */
const upstreamInPath = (
  { access, liveUpstreams }: UpstreamManaging,
  { params, principal }: Pick<RouteRequest<unknown>, 'params' | 'principal'>,
): Upstream => {
  const upstream = liveUpstreams.all().get(params['id']!)
  if (upstream === undefined || (upstream.team === null && !principal.administrator)) throw notFound()
  if (upstream.team === null) return upstream
  const missing = missingRight(access.directory(), principal.userId, upstream.team, 'team_administrator')
  if (missing?.kind === 'not-found') throw notFound()
  throwIfRefused(missing)
  return upstream
}

const notFound = (): Failure => new Failure(noSuchUpstream.kind, noSuchUpstream.reason)

export const showUpstream = (managing: UpstreamManaging): AnyRoute =>
  route({
    method: 'get',
    path: PATH,
    summary:
      'An upstream, with how its models do as this process sees it. Needs the role team_administrator in its team, and ' +
      "the administrator key for the operator's.",
    requestHeaders: [],
    errors: rights,
    response: { schema: upstreamJson.schema, headers: [] },
    handle: async (asked) => ({ body: managing.shownUpstream(upstreamInPath(managing, asked)) }),
  })

export const changeUpstream = (managing: UpstreamManaging): AnyRoute =>
  route({
    method: 'patch',
    path: PATH,
    summary:
      'Changes an upstream: what is not named stays, null takes an option away, lists are replaced as a whole. Needs ' +
      "the role team_administrator in its team, and the administrator key for the operator's.",
    body: upstreamChange,
    requestHeaders: [],
    errors: [...writesDirectory.errors, ...rights, 'conflict'],
    response: { schema: upstreamJson.schema },
    handle: async (asked) => {
      const { id, team } = upstreamInPath(managing, asked)
      const change = given(asked.body)
      await requireGoodUpstream(managing, team, change)
      const command = { type: 'ChangeUpstream', id, team, change } as const
      const { state, refusals, position } = await managing.liveUpstreams.run(command, asked.cause)
      throwIfRefused(refusals.get(0))
      return written(managing, state.get(id)!, position, asked.cause)
    },
  })

export const deleteUpstream = (managing: UpstreamManaging): AnyRoute =>
  route({
    method: 'delete',
    path: PATH,
    summary:
      'Deletes an upstream for good; what it is being asked goes on to its end. Needs the role team_administrator in its ' +
      "team, and the administrator key for the operator's.",
    requestHeaders: [],
    errors: [...writesDirectory.errors, ...rights, 'conflict'],
    response: done,
    handle: async (asked) => {
      const { id, team } = upstreamInPath(managing, asked)
      const { refusals, position } = await managing.liveUpstreams.run(
        { type: 'DeleteUpstream', id, team },
        asked.cause,
      )
      throwIfRefused(refusals.get(0))
      return { body: {}, position }
    },
  })
