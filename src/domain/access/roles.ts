import { leaf } from '../../kernel/codec/codec.js'
import { projectName, registryName } from '../../kernel/ids.js'

const TEAM_ROLES = [
  'member',
  'team_administrator',
  'registry_administrator',
  'project_administrator',
] as const
type TeamRole = (typeof TEAM_ROLES)[number]

/**
 * A role within a team. `project_administrator:NAME` is for one project of the team, `registry_administrator:NAME` for
 * one registry; they need not exist yet. Without a name, the role is for all of them.
 */
export type Role = TeamRole | `${'project' | 'registry'}_administrator:${string}`

const isRole = (u: unknown): u is Role => {
  if (typeof u !== 'string') return false
  if (TEAM_ROLES.some((role) => role === u)) return true
  const [role, name] = [u.slice(0, u.indexOf(':')), u.slice(u.indexOf(':') + 1)]
  return role === 'project_administrator'
    ? projectName.is(name)
    : role === 'registry_administrator' && registryName.is(name)
}

export const role = leaf<Role>(
  'role',
  isRole,
  {
    type: 'literal_error',
    msg:
      "Input should be 'member', 'team_administrator', 'registry_administrator' or 'project_administrator'; the last two " +
      "may be for one registry or project, as in 'project_administrator:NAME'",
  },
  {
    description:
      '`project_administrator:NAME` is for one project, `registry_administrator:NAME` for one registry.',
    anyOf: [
      { type: 'string', enum: TEAM_ROLES },
      { type: 'string', pattern: '^(?:project|registry)_administrator:.+$' },
    ],
  },
)

export const projectAdministrator = (project: string): Role => `project_administrator:${project}`
export const registryAdministrator = (registry: string): Role => `registry_administrator:${registry}`

/** Whether a role has the rights of another. A team administrator also has those of all other administrators. */
export const includesRole = (role: Role, needed: Role): boolean =>
  needed === 'member' ||
  role === needed ||
  role === 'team_administrator' ||
  (needed.includes(':') && role === needed.slice(0, needed.indexOf(':')))

/** Whether a role may create some automation. */
export const isAdministratorRole = (role: Role): boolean => role !== 'member'

/** Removes duplicates and sorts, so that equal sets are equal lists. */
export const roleSet = (roles: readonly Role[]): readonly Role[] => [...new Set(roles)].sort()
