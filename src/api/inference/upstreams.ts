import { closed, open } from '../../domain/codec/struct.js'
import { id } from '../../domain/ids.js'
import { owner, upstreamFields, type UpstreamContent } from '../../domain/upstream/content.js'
import type { Upstream } from '../../domain/upstream/directory.js'
import { repeatableId } from '../access/idempotency.js'
import { refuseIf, requireAdministrator, requireRole } from '../auth/rights.js'
import { writesDirectory } from '../conduct.js'
import type { Principal } from '../principal.js'
import { route, type AnyRoute } from '../route.js'
import type { UpstreamManaging } from './inference.js'

const PATH = '/api/inference/upstreams'

const newUpstream = closed('NewUpstream', {
  required: upstreamFields.required,
  optional: { team: owner, ...upstreamFields.optional },
})

const upstreamJson = open('Upstream', {
  says: 'Where models are served. `secret` is the name of a secret of its team.',
  required: { id, ...upstreamFields.required },
  optional: { team: owner, ...upstreamFields.optional },
})

const shown = ({ id, team, content }: Upstream) => ({ id, team, ...content })

/** Manages the upstreams of teams, and the operator's own (gateway rule 1). */
export const upstreamRoutes = ({ ports, access, liveUpstreams }: UpstreamManaging): readonly AnyRoute[] => [
  route({
    method: 'post',
    path: PATH,
    summary:
      'Makes an upstream of a team, or one for all teams where `team` is left out. Needs the role ' +
      'team_administrator, and the administrator key for all teams.',
    body: newUpstream,
    takes: ['Idempotency-Key'],
    fails: [...writesDirectory.fails, 'not-found', 'forbidden', 'conflict'],
    answer: { schema: upstreamJson.schema },
    handle: async ({ body: { team, ...content }, headers, principal, cause }) => {
      requireOwner(access, principal, team)
      const id = repeatableId(
        ports,
        `${principal.userId}\n${team ?? ''}\nupstream`,
        headers['idempotency-key'],
      )
      const command = {
        type: 'CreateUpstream',
        id,
        team,
        content: content satisfies UpstreamContent,
      } as const
      const { refusals, position } = await liveUpstreams.run(command, cause)
      refuseIf(refusals.get(0))
      return { body: shown({ id, team, content }), position }
    },
  }),
]

const requireOwner = (
  access: UpstreamManaging['access'],
  principal: Principal,
  team: string | null,
): void => {
  if (team === null) requireAdministrator(principal)
  else requireRole(access, principal, team, 'team_administrator')
}
