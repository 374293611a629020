import type { Refusal } from '../../kernel/decider.js'
import type { Directory } from './directory.js'
import { isAdministrator, rolesIn } from './look-ups.js'
import type { Role } from './roles.js'

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
  if (administrator || includes(roles, needed)) return undefined
  return { kind: 'forbidden', reason: `This requires the role ${needed} in team ${team}.` }
}

const includes = (roles: readonly Role[], needed: Role): boolean =>
  needed === 'member' || roles.includes(needed) || roles.includes('team_administrator')
