import type { Cause } from '../../../domain/event.js'
import type { Position } from '../../../domain/ports/event-store.js'
import { upstreamProblems } from '../../../domain/upstream/checks.js'
import type { UpstreamContent } from '../../../domain/upstream/content.js'
import type { Upstream } from '../../../domain/upstream/directory.js'
import { requireAdministrator, requireRole } from '../../auth/rights.js'
import { hasSecret } from '../../automations/kept.js'
import { invalidBody } from '../../failure.js'
import type { Principal } from '../../principal.js'
import type { UpstreamManaging } from '../inference.js'

export const UPSTREAMS_PATH = '/api/inference/upstreams'

export const requireOwner = (
  access: UpstreamManaging['access'],
  principal: Principal,
  team: string | null,
): void => {
  if (team === null) requireAdministrator(principal)
  else requireRole(access, principal, team, 'team_administrator')
}

/** Refuses values that an upstream cannot have, and the name of a secret that is none of the team's. */
export const requireGoodUpstream = async (
  { ports }: Pick<UpstreamManaging, 'ports'>,
  team: string | null,
  given: Partial<UpstreamContent>,
): Promise<void> => {
  const problems = [...upstreamProblems(given)]
  const refuseSecret = (msg: string) => problems.push({ loc: ['secret'], type: 'value_error', msg })
  const { secret } = given
  if (secret != null && team === null)
    refuseSecret(
      'An upstream for all teams has no secret: give its credential in the file of TALLYTREE_UPSTREAMS_FILE',
    )
  else if (secret != null && !(await hasSecret(ports, team!, secret)))
    refuseSecret('The team has no secret of this name')
  if (problems.length > 0) throw invalidBody(problems)
}

/** The answer to a write, once the prices that came with it are published. */
export const written = async (
  { shownUpstream, publishPrices }: UpstreamManaging,
  upstream: Upstream,
  position: Position | undefined,
  cause: Cause,
) => {
  await publishPrices(upstream.team, cause)
  return { body: shownUpstream(upstream), position }
}
