import type { Directory } from '../../domain/access/directory.js'
import type { Role } from '../../domain/access/roles.js'
import { missingAdministratorRole } from '../../domain/access/rights.js'
import { requireAdministrator, requireRole, throwIfRefused } from '../../application/access/rights.js'
import type { FailureKind } from '../../application/failure.js'
import type { Access } from '../../application/access/access.js'
import { authorizeRead, noSuchProject, projectInPath } from '../../application/access/project-access.js'
import { entityOf } from '../../kernel/ids.js'
import type { RouteRequest } from './route.js'
import type { AnyRequest } from './run.js'

/** Decides who may use a route. Its result, such as the team, is added to the request. */
export interface Authorization<Scope extends object> {
  /** The failures it can throw, in addition to that of a missing key. */
  readonly errors: readonly FailureKind[]
  readonly authorize: (request: AnyRequest) => Scope | Promise<Scope>
}

/** Any valid key. */
export const anyKey: Authorization<object> = { errors: [], authorize: () => ({}) }

export const administratorKey: Authorization<object> = {
  errors: ['forbidden'],
  authorize: ({ principal }) => {
    requireAdministrator(principal)
    return {}
  },
}

interface HasDirectory {
  readonly directory: () => Directory
}

/** Requires a role in the team of the path. */
export const roleInTeam = (access: HasDirectory, role: Role): Authorization<{ readonly team: string }> => ({
  errors: ['not-found', 'forbidden'],
  authorize: ({ params, principal }) => {
    const team = params['team']!
    requireRole(access, principal, team, role)
    return { team }
  },
})

/** Requires an administrator role in the team of the path: for the team, or for any project or registry of it. */
export const anyAdministratorOfTeam = (access: HasDirectory): Authorization<{ readonly team: string }> => ({
  errors: ['not-found', 'forbidden'],
  authorize: ({ params, principal }) => {
    const team = params['team']!
    throwIfRefused(missingAdministratorRole(access.directory(), principal.userId, team))
    return { team }
  },
})

/** Requires membership in the team of the query. */
export const memberOfTeam = (access: HasDirectory): Authorization<{ readonly team: string }> => ({
  errors: ['not-found'],
  authorize: ({ query: { team }, principal }: RouteRequest<unknown, { readonly team: string }>) => {
    requireRole(access, principal, team, 'member')
    return { team }
  },
})

/** Requires access to the team of the project, or of each of several. */
export const accessToProject = <Project extends string | readonly string[]>(
  access: Pick<Access, 'canAccessTeam' | 'canAccessProject'>,
  find: (request: AnyRequest) => Project,
): Authorization<{ readonly project: Project }> => ({
  errors: ['not-found'],
  authorize: (request) => {
    const project = find(request)
    for (const one of projectsIn(project)) authorizeRead(access, request.principal, one)
    return { project }
  },
})

/** Requires access to the team of the project, which may have been deleted. */
export const teamOfProject = (
  access: Pick<Access, 'canAccessTeam'>,
  find: (request: AnyRequest) => string,
): Authorization<{ readonly project: string }> => ({
  errors: ['not-found'],
  authorize: (request) => {
    const project = find(request)
    if (!access.canAccessTeam(request.principal, entityOf(project))) throw noSuchProject()
    return { project }
  },
})

export const projectsIn = (project: string | readonly string[]): readonly string[] =>
  typeof project === 'string' ? [project] : [...new Set(project)]

export const inBody = ({ body }: { readonly body: { readonly project_id: string } }): string =>
  body.project_id
export const inQuery = ({ query }: { readonly query: { readonly project_id: string } }): string =>
  query.project_id
export const inPath = ({ params }: Pick<RouteRequest, 'params'>): string => projectInPath(params)
