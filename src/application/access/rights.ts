import type { Directory } from '../../domain/access/directory.js'
import { missingRight } from '../../domain/access/rights.js'
import { projectAdministrator, type Role } from '../../domain/access/roles.js'
import { entityOf, projectNameOf } from '../../kernel/ids.js'
import type { Refusal } from '../../kernel/decider.js'
import type { JsonObject } from '../../kernel/json/json.js'
import { Failure } from '../failure.js'
import type { Principal } from '../principal.js'

/** A team's members may use its projects; the administrator may use all. */
export const canAccessTeam = ({ administrator, teams }: Principal, entity: string): boolean =>
  administrator || teams.includes(entity)

export const canAccessProject = (
  { deletedProjects }: Pick<Directory, 'deletedProjects'>,
  principal: Principal,
  projectId: string,
): boolean => canAccessTeam(principal, entityOf(projectId)) && !deletedProjects.has(projectId)

/**
 * Refuses principals without a role in a team: 404 to non-members, the same as for a team that does not exist, and 403
 * naming the role to members.
 */
export const requireRole = (
  { directory }: { readonly directory: () => Directory },
  { userId }: Principal,
  team: string,
  role: Role,
): void => throwIfRefused(missingRight(directory(), userId, team, role))

export const hasRole = (
  { directory }: { readonly directory: () => Directory },
  { userId }: Pick<Principal, 'userId'>,
  team: string,
  role: Role,
): boolean => missingRight(directory(), userId, team, role) === undefined

export const requireAdministrator = ({ administrator }: Principal): void => {
  if (!administrator) throw new Failure('forbidden', 'This requires the administrator key.')
}

/** Requires the role project_administrator of a project. */
export const requireProjectAdministrator = (
  access: { readonly directory: () => Directory },
  principal: Principal,
  project: string,
): void => {
  // Before the team of the project exists, too.
  if (!principal.administrator)
    requireRole(access, principal, entityOf(project), projectAdministrator(projectNameOf(project)))
}

/** Requires the role team_administrator of the team of a project. */
export const requireTeamAdministrator = (
  access: { readonly directory: () => Directory },
  principal: Principal,
  project: string,
): void => {
  if (!principal.administrator) requireRole(access, principal, entityOf(project), 'team_administrator')
}

/** Throws the refusal of a command as a failure with `body` as further members. */
export const throwIfRefused = (refusal: Refusal | undefined, body: JsonObject = {}): void => {
  if (refusal !== undefined) throw new Failure(refusal.kind, refusal.reason, { body })
}
