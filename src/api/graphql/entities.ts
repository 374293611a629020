import { teamName } from '../../domain/ids.js'
import { Failure } from '../failure.js'
import type { Principal } from '../principal.js'
import type { Teams } from '../projects/access.js'

const MOST_TEAMS = 1000

/** Every entity is a team. */
export const entityOf = (name: string) => ({ id: name, name, isTeam: true, readOnly: false })

/** The entity of requests that name none; undefined for a user without a team. */
export const defaultEntityOf = ({ administrator, teams }: Principal): string | undefined =>
  administrator ? 'default' : teams[0]

export const viewerOf = (principal: Principal) => {
  const { userId, administrator, teams } = principal
  const entity = defaultEntityOf(principal)
  return {
    id: userId,
    username: userId,
    name: userId,
    email: null,
    admin: administrator,
    entity: entity ?? null,
    defaultEntity: entity === undefined ? null : entityOf(entity),
    teams: (page: TeamsPage) => pageOf(teams, page),
    flags: '{}',
    photoUrl: null,
  }
}

interface TeamsPage {
  readonly first?: number | null
  readonly after?: string | null
}

const pageOf = (teams: readonly string[], { first, after }: TeamsPage) => {
  const limit = first ?? MOST_TEAMS
  if (limit < 1 || limit > MOST_TEAMS)
    throw new Failure('bad-request', `first should be between 1 and ${MOST_TEAMS}.`)
  const left = after == null ? teams : teams.filter((team) => team > after)
  const shown = left.slice(0, limit)
  return {
    edges: shown.map((team) => ({ node: entityOf(team), cursor: team })),
    pageInfo: { hasNextPage: left.length > shown.length, endCursor: shown.at(-1) ?? null },
  }
}

/** Does not distinguish missing entities from those without access. */
export const visibleEntity = (
  { canAccessTeam }: Teams,
  principal: Principal,
  name: string | null | undefined,
) => {
  if (name == null || !teamName.is(name) || !canAccessTeam(principal, name))
    throw new Failure('not-found', 'Entity not found, or the API key has no access to it.')
  return entityOf(name)
}
