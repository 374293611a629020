import type { Directory } from '../../../domain/access/directory.js'
import { registryName, teamName } from '../../../kernel/ids.js'
import { withDefault } from '../../../kernel/codec/containers.js'
import { open } from '../../../kernel/codec/struct.js'
import { sorted } from '../../../kernel/sorted.js'
import { hasRegistry } from '../../../application/artifacts/registries.js'
import type { Services } from '../../../application/services.js'
import { canAccessTeam } from '../../../application/access/rights.js'
import { Failure } from '../../../application/failure.js'
import type { Principal } from '../../../application/principal.js'
import type { RouteRequest } from '../../server/route.js'

export interface FoundRegistry {
  readonly team: string
  readonly registry: string
}

/** Selects the team, if several have a registry with this name. */
export const teamFields = { team: withDefault(teamName, undefined) }
export const teamQuery = open('RegistryTeam', { optional: teamFields })

/** Limits the search for a registry without a team. */
const MOST_TEAMS = 100

/** Finds the registry of the path in the teams of the key. */
export const findRegistry = async (
  services: Pick<Services, 'access' | 'eventStore'>,
  { params, query: { team }, principal }: RouteRequest<unknown, { readonly team?: string | undefined }>,
): Promise<FoundRegistry> => {
  const registry = params['registry']!
  if (!registryName.is(registry)) throw noSuchRegistry()
  const has = (team: string) => hasRegistry(services, team, registry)
  if (team !== undefined) {
    if (canAccessTeam(principal, team) && (await has(team))) return { team, registry }
    throw noSuchRegistry()
  }
  const teams = teamsOf(services.access.directory(), principal)
  if (teams.length > MOST_TEAMS)
    throw new Failure(
      'conflict',
      `The key has access to more than ${MOST_TEAMS} teams. Select one with ?team=.`,
    )
  const those = await Promise.all(teams.map(async (team) => ((await has(team)) ? [team] : [])))
  const [found, ...others] = those.flat()
  if (found === undefined) throw noSuchRegistry()
  if (others.length === 0) return { team: found, registry }
  throw new Failure(
    'conflict',
    `Several teams of the key have a registry named ${registry}. Select one with ?team=.`,
    { body: { teams: [found, ...others] } },
  )
}

/** Does not distinguish missing registries from those without access. */
const noSuchRegistry = (): Failure =>
  new Failure('not-found', 'Registry not found, or the API key has no access to its team.')

const teamsOf = ({ teams }: Directory, principal: Principal): readonly string[] => {
  if (!principal.administrator) return principal.teams
  return teams.size > MOST_TEAMS ? [...teams.keys()] : sorted(teams.keys())
}
