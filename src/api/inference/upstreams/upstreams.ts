import { open } from '../../../domain/codec/struct.js'
import { withDefault } from '../../../domain/codec/containers.js'
import { teamName } from '../../../domain/ids.js'
import type { Upstreams } from '../../../domain/upstream/directory.js'
import { repeatableId } from '../../access/idempotency.js'
import { pageFields, pageOf, takePage, askedPage } from '../../access/page.js'
import { throwIfRefused } from '../../auth/rights.js'
import { readsDirectory, writesDirectory } from '../../conduct.js'
import { invalid } from '../../failure.js'
import { route, type AnyRoute, type RouteRequest } from '../../route.js'
import type { UpstreamManaging } from '../inference.js'
import { requireGoodUpstream, requireOwner, UPSTREAMS_PATH, written } from './managed-upstream.js'
import { newUpstream, upstreamJson } from './upstream-codecs.js'

export const createUpstream = (managing: UpstreamManaging): AnyRoute =>
  route({
    method: 'post',
    path: UPSTREAMS_PATH,
    summary:
      'Makes an upstream of a team, or one for all teams where `team` is left out. The name of a model that is taken ' +
      'there is a conflict; so is its own, with the id of the upstream that has it. Needs the role ' +
      'team_administrator, and the administrator key for all teams.',
    body: newUpstream,
    requestHeaders: ['Idempotency-Key'],
    errors: [...writesDirectory.errors, 'not-found', 'forbidden', 'conflict'],
    response: { schema: upstreamJson.schema },
    handle: async ({ body: { team, ...content }, headers, principal, cause }) => {
      const { ports, access, liveUpstreams } = managing
      requireOwner(access, principal, team)
      await requireGoodUpstream(managing, team, content)
      const id = repeatableId(
        ports,
        `${principal.userId}\n${team ?? ''}\nupstream`,
        headers['idempotency-key'],
      )
      const command = { type: 'CreateUpstream', id, team, content } as const
      const { state, refusals, position } = await liveUpstreams.run(command, cause)
      throwIfRefused(refusals.get(0), state.has(id) ? {} : namesake(state, team, content.name))
      return written(managing, state.get(id)!, position, cause)
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

export const listUpstreams = ({ access, liveUpstreams, shownUpstream }: UpstreamManaging): AnyRoute =>
  route({
    method: 'get',
    path: UPSTREAMS_PATH,
    summary:
      'Lists the upstreams of a team, or all there are where no team is named, in the order of their ids, with how they ' +
      'do. Needs the role team_administrator, and the administrator key for all.',
    query: listQuery,
    requestHeaders: [],
    errors: [...readsDirectory.errors, 'not-found', 'forbidden'],
    response: { schema: pageOf(upstreamJson).schema, headers: [] },
    handle: async ({ query, principal }) => {
      const team = teamIn(query)
      requireOwner(access, principal, team ?? null)
      const listed = [...liveUpstreams.all().values()]
        .filter((one) => team === undefined || one.team === team)
        .sort((a, b) => (a.id < b.id ? -1 : 1))
      const { data, next } = takePage(
        askedPage(query),
        (after) => listed.filter(({ id }) => after === undefined || id > after),
        ({ id }) => id,
      )
      return { body: { data: data.map(shownUpstream), next } }
    },
  })

const teamIn = ({ team }: RouteRequest<unknown>['query']): string | undefined => {
  if (team === undefined || typeof team === 'string') return team
  throw invalid([{ loc: ['query', 'team'], type: 'string_type', msg: 'Input should be a valid string' }])
}
