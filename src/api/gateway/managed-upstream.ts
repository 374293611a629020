import type { Services } from '../../application/services.js'
import type { Cause } from '../../kernel/event.js'
import type { ExecuteResult } from '../../kernel/execute.js'
import type { JsonObject } from '../../kernel/json/json.js'
import { BEARER_EXPECTED, isBearer } from '../../domain/secrets/bearer.js'
import { credentialProblems } from '../../domain/secrets/credentials.js'
import { upstreamProblems } from '../../domain/gateway/upstreams/checks.js'
import { extrasProblems, secretsInExtras } from '../../domain/gateway/upstreams/extras.js'
import type { UpstreamContent } from '../../domain/gateway/upstreams/content.js'
import type { Upstreams } from '../../domain/gateway/upstreams/directory.js'
import { requireAdministrator, requireRole } from '../../application/access/rights.js'
import { secretProblem, secretProblems } from '../../application/secrets/secret-uses.js'
import { NO_SECRET } from '../../domain/secrets/static-headers.js'
import { secretValuesOf } from '../../application/secrets/secret-values.js'
import { invalidBody } from '../../application/failure.js'
import type { Principal } from '../../application/principal.js'
import { writing } from '../server/run.js'
import type { GatewayServices } from '../../gateway/gateway.js'
import { publishPrices } from '../../gateway/upstreams/published-prices.js'
import { upstreamView } from './upstream-codecs.js'

export const UPSTREAMS_PATH = '/api/inference/upstreams'

export const requireOwner = (
  { access }: Pick<Services, 'access'>,
  principal: Principal,
  team: string | null,
): void => {
  if (team === null) requireAdministrator(principal)
  else requireRole(access, principal, team, 'team_administrator')
}

/** Refuses values that an upstream cannot have, and the name of a secret that is none of the team's, or cannot be sent. */
export const requireGoodUpstream = async (
  services: Pick<Services, 'eventStore' | 'ids' | 'secrets' | 'vendor'>,
  team: string | null,
  given: Partial<UpstreamContent>,
): Promise<void> => {
  const problems = [...upstreamProblems(given)]
  const refuseSecret = (msg: string) => problems.push({ loc: ['secret'], type: 'value_error', msg })
  const { secret, headers = null, query = null } = given
  const named = secretsInExtras({ headers, query })
  const unusable =
    team === null
      ? new Map(named.map((name) => [name, NO_SECRET]))
      : await secretProblems(services, team, named, 'upstreams')
  problems.push(
    ...extrasProblems({ headers, query, secret: secret ?? null }, services.vendor, unusable),
    ...credentialProblems(headers, 'secret'),
    ...credentialProblems(query, 'secret', 'query'),
  )
  if (secret != null && team === null)
    refuseSecret(
      'An upstream for all teams cannot use a secret of a team: configure its credential in TALLYTREE_UPSTREAMS_FILE',
    )
  else if (secret != null) {
    const problem = await bearerProblem(services, team!, secret)
    if (problem !== undefined) refuseSecret(problem)
  }
  if (problems.length > 0) throw invalidBody(problems)
}

const bearerProblem = async (
  services: Pick<Services, 'eventStore' | 'ids' | 'secrets'>,
  team: string,
  name: string,
): Promise<string | undefined> => {
  const problem = await secretProblem(services, team, name, 'upstreams')
  if (problem !== undefined) return problem
  const [newest] = await secretValuesOf(services, team, name)
  return newest === undefined || isBearer(newest.value)
    ? undefined
    : `The value of the secret is not valid in a header: it should be ${BEARER_EXPECTED}`
}

/** A write of an upstream; the prices that come with it are published before it is answered. */
export const written = (
  services: Pick<GatewayServices, 'eventStore' | 'clock' | 'ids' | 'gateway'>,
  id: string,
  run: (cause: Cause) => Promise<ExecuteResult<Upstreams>>,
  refusalBody?: (state: Upstreams) => JsonObject,
) =>
  writing(
    async (cause) => {
      const executed = await run(cause)
      const upstream = executed.state.get(id)
      if (executed.refusals.size === 0) await publishPrices(services, upstream!.team, cause)
      return executed
    },
    ({ state }) => upstreamView(services)(state.get(id)!),
    refusalBody,
  )
