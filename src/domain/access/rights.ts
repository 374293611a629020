import type { Refusal } from '../decider.js'
import type { Directory } from './directory.js'
import { isAdministrator, rolesIn } from './look-ups.js'
import type { Role } from './roles.js'

/** The same answer for a team of others and for none at all. */
const noSuchTeam: Refusal = {
  kind: 'not-found',
  reason: 'Team not found, or the API key has no access to it.',
}

/** Why a user may not do in a team what needs this role; undefined when they may. */
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
