import type { Directory } from '../../domain/access/directory.js'
import { registryName } from '../../domain/artifact/place.js'
import { registryDecider, type RegistriesState } from '../../domain/artifact/registry.js'
import { registryStream, type RegistryEvent } from '../../domain/artifact/events.js'
import { withDefault } from '../../domain/codec/containers.js'
import { open } from '../../domain/codec/struct.js'
import { teamName } from '../../domain/ids.js'
import { sorted } from '../../domain/sorted.js'
import { keptFolds, type KeptFolds } from '../../runtime/kept-folds.js'
import type { Ports } from '../../domain/ports/ports.js'
import { canAccessTeam } from '../auth/rights.js'
import { Failure } from '../failure.js'
import type { Principal } from '../principal.js'
import type { RouteRequest } from '../route.js'

export interface Registries {
  readonly access: { readonly directory: () => Directory }
  readonly registriesOf: KeptFolds<RegistriesState>
}

export interface FoundRegistry {
  readonly team: string
  readonly registry: string
}

/** Which team's registry is meant, where several have one of this name. */
export const teamFields = { team: withDefault(teamName, undefined) }
export const teamQuery = open('RegistryTeam', { optional: teamFields })

/** Registries whose teams' folds are kept. */
const MOST_KEPT = 50_000

/** What this process knows of the registries of teams. */
export const openRegistries = (ports: Pick<Ports, 'eventStore'>): KeptFolds<RegistriesState> =>
  keptFolds<RegistriesState>(
    ports,
    {
      fresh: registryDecider.initialState,
      take: (state, { type, data }) =>
        registryDecider.evolve(state, { type, data } as unknown as RegistryEvent),
      weightOf: ({ ids }) => ids.size,
    },
    MOST_KEPT,
  )

/** So many teams are looked through for a registry that is named without its own. */
const MOST_TEAMS = 100

/** The registry that a path names, in one of the teams of the key. */
export const findRegistry = async (
  { access, registriesOf }: Registries,
  { params, query: { team }, principal }: RouteRequest<unknown, { readonly team?: string | undefined }>,
): Promise<FoundRegistry> => {
  const registry = params['registry']!
  if (!registryName.is(registry)) throw noSuchRegistry()
  const has = (team: string) => registriesOf(registryStream(team), ({ state }) => state.ids.has(registry))
  if (team !== undefined) {
    if (canAccessTeam(principal, team) && (await has(team))) return { team, registry }
    throw noSuchRegistry()
  }
  const teams = teamsOf(access.directory(), principal)
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

/** The same answer for a registry of others and for none at all. */
const noSuchRegistry = (): Failure =>
  new Failure('not-found', 'Registry not found, or the API key has no access to its team.')

const teamsOf = ({ teams }: Directory, principal: Principal): readonly string[] => {
  if (!principal.administrator) return principal.teams
  return teams.size > MOST_TEAMS ? [...teams.keys()] : sorted(teams.keys())
}
