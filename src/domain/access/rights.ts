import type { Refusal } from '../../kernel/decider.js'
import type { Directory } from './directory.js'
import { isAdministrator, membershipsOf, rolesIn } from './look-ups.js'
import { includesRole, isAdministratorRole, type Role } from './roles.js'

/** The same error for a team of others and for one that does not exist, so that team names do not leak. */
const noSuchTeam: Refusal = {
  kind: 'not-found',
  reason: 'Team not found, or the API key has no access to it.',
}

/** The refusal for a user without the required role in a team; undefined if the user has it. */
export const missingRight = (
  directory: Directory,
  user: string,
  team: string,
  needed: Role,
): Refusal | undefined => {
  const roles = rolesIn(directory, user, team)
  const administrator = isAdministrator(directory, user)
  if (!directory.teams.has(team) || (roles.length === 0 && !administrator)) return noSuchTeam
  if (administrator || roles.some((role) => includesRole(role, needed))) return undefined
  return { kind: 'forbidden', reason: `This requires the role ${needed} in team ${team}.` }
}

/** The refusal for a user who can create no automation of a team: neither it nor a project or registry is theirs. */
export const missingAdministratorRole = (
  directory: Directory,
  user: string,
  team: string,
): Refusal | undefined => {
  const missing = missingRight(directory, user, team, 'member')
  if (missing !== undefined || isAdministrator(directory, user)) return missing
  return rolesIn(directory, user, team).some(isAdministratorRole)
    ? undefined
    : {
        kind: 'forbidden',
        reason: `This requires an administrator role in team ${team}, for the team, a project or a registry.`,
      }
}

/**
 * Whether one user may revoke the keys of another. A key is valid in all teams of its user, so a team administrator may only
 * if they administer all of these.
 */
export const mayRevokeKeysOf = (directory: Directory, by: string, user: string): boolean => {
  if (by === user || isAdministrator(directory, by)) return true
  const teams = [...membershipsOf(directory, user)].map(({ team }) => team)
  return (
    teams.length > 0 &&
    !isAdministrator(directory, user) &&
    teams.every((team) => rolesIn(directory, by, team).includes('team_administrator'))
  )
}
