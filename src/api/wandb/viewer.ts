import { teamName } from '../../kernel/ids.js'
import { Failure } from '../../application/failure.js'
import { canSee, defaultEntityOf, projectIdOf, type Caller, type PageOf } from './caller.js'

const MAX_TEAMS = 1000

/** Every entity is a team, and is its own organization. */
export const entityOf = (caller: Caller, name: string) => ({
  id: name,
  name,
  isTeam: true,
  readOnly: false,
  entityType: 'team',
  user: null,
  organization: () => organizationOf(caller, name),
  project: ({ name: project }: { readonly name?: string | null }) =>
    caller.nodes.project(caller, projectIdOf(caller.principal, { name: project ?? null, entityName: name })),
})

export const organizationOf = (caller: Caller, name: string) => ({
  id: name,
  name,
  coreWeaveOrganizationId: null,
  orgEntity: () => entityOf(caller, name),
  featureFlags: [],
})

export const userOf = (name: string) => ({
  id: name,
  username: name,
  name,
  email: null,
  admin: false,
  flags: '{}',
  teams: { edges: [], pageInfo: { hasNextPage: false, endCursor: null } },
})

export const viewerOf = (caller: Caller) => {
  const { userId, administrator, teams } = caller.principal
  const entity = defaultEntityOf(caller.principal)
  return {
    ...userOf(userId),
    admin: administrator,
    entity: entity ?? null,
    defaultEntity: entity === undefined ? null : () => entityOf(caller, entity),
    teams: (page: PageOf) => teamPage(caller, teams, page),
    apiKeys: { edges: [] },
    organizations: () => teams.slice(0, MAX_TEAMS).map((team) => organizationOf(caller, team)),
  }
}

const teamPage = (caller: Caller, teams: readonly string[], { first, after }: PageOf) => {
  const limit = first ?? MAX_TEAMS
  if (limit < 1 || limit > MAX_TEAMS)
    throw new Failure('bad-request', `first should be between 1 and ${MAX_TEAMS}.`)
  const left = after == null ? teams : teams.filter((team) => team > after)
  const shown = left.slice(0, limit)
  caller.budget.spend('items', shown.length)
  return {
    edges: shown.map((team) => ({ node: entityOf(caller, team), cursor: team })),
    pageInfo: { hasNextPage: left.length > shown.length, endCursor: shown.at(-1) ?? null },
  }
}

/** Null for missing entities and for those without access. */
export const visibleEntity = (caller: Caller, name: string | null | undefined) =>
  name != null && teamName.is(name) && canSee(caller, name) ? entityOf(caller, name) : null
