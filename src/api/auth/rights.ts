import type { Directory } from '../../domain/access/directory.js'
import { missingRight } from '../../domain/access/rights.js'
import type { Role } from '../../domain/access/roles.js'
import type { Refusal } from '../../domain/decider.js'
import type { JsonObject } from '../../domain/json/json.js'
import { Failure } from '../failure.js'
import type { Principal } from '../principal.js'

/** Whether an entity's projects are open to the principal: those of its teams, and any to the administrator. */
export const canAccessTeam = ({ administrator, teams }: Principal, entity: string): boolean =>
  administrator || teams.includes(entity)

/**
 * Refuses what needs a role in a team: 404 to those outside, the same as for a team that does not exist, and 403
 * naming the role to members without it.
 */
export const requireRole = (
  { directory }: { readonly directory: () => Directory },
  { userId }: Principal,
  team: string,
  role: Role,
): void => throwIfRefused(missingRight(directory(), userId, team, role))

/** Refuses everybody but the administrator. */
export const requireAdministrator = ({ administrator }: Principal): void => {
  if (!administrator) throw new Failure('forbidden', 'This requires the administrator key.')
}

/** Throws a command's refusal as the failure it is answered with; `body` goes along with the reason. */
export const throwIfRefused = (refusal: Refusal | undefined, body: JsonObject = {}): void => {
  if (refusal !== undefined) throw new Failure(refusal.kind, refusal.reason, { body })
}
