export const ROLE_LABELS: Readonly<Record<string, string>> = {
  member: 'Member',
  project_administrator: 'Project administrator',
  registry_administrator: 'Registry administrator',
  team_administrator: 'Team administrator',
}

/** The roles of a member as the form has them. */
export interface Roles {
  readonly team: readonly string[]
  /** Names, separated by commas. */
  readonly projects: string
  readonly registries: string
}

const OF_PROJECT = 'project_administrator:'
const OF_REGISTRY = 'registry_administrator:'

const namesAfter = (prefix: string, roles: readonly string[]): string =>
  roles
    .filter((role) => role.startsWith(prefix))
    .map((role) => role.slice(prefix.length))
    .join(', ')

export const rolesOf = (roles: readonly string[]): Roles => ({
  team: roles.filter((role) => !role.includes(':')),
  projects: namesAfter(OF_PROJECT, roles),
  registries: namesAfter(OF_REGISTRY, roles),
})

export const rolesIn = ({ team, projects, registries }: Roles): readonly string[] => {
  const named = (prefix: string, names: string) =>
    names
      .split(/[\s,]+/)
      .filter((name) => name !== '')
      .map((name) => prefix + name)
  return [...team, ...named(OF_PROJECT, projects), ...named(OF_REGISTRY, registries)]
}

/** A role as people read it: `Project administrator of support`. */
export const roleText = (role: string): string => {
  const [of = '', name] = role.split(/:(.*)/)
  const label = ROLE_LABELS[of] ?? of
  return name === undefined ? label : `${label} of ${name}`
}
