import { entityOf, projectId } from '../../kernel/ids.js'
import type { Cause } from '../../kernel/event.js'
import { Failure, invalid } from '../failure.js'
import type { Principal } from '../principal.js'
import type { Access } from './access.js'

/** Does not distinguish missing projects from those without access. */
export const noSuchProject = (): Failure =>
  new Failure('not-found', 'Project not found, or the API key has no access to its team.')

export const authorizeRead = (
  { canAccessTeam }: Pick<Access, 'canAccessTeam'>,
  principal: Principal,
  projectId: string,
): void => {
  if (!canAccessTeam(principal, entityOf(projectId))) throw noSuchProject()
}

export const authorizeWrite = async (
  access: Pick<Access, 'canAccessTeam' | 'ensureTeam'>,
  principal: Principal,
  projectId: string,
  cause: Cause,
): Promise<void> => {
  authorizeRead(access, principal, projectId)
  await access.ensureTeam(principal, entityOf(projectId), cause)
}

export const projectInPath = (params: Readonly<Record<string, string>>): string => {
  const named = `${params['entity']}/${params['project']}`
  if (projectId.is(named)) return named
  throw invalid([
    {
      loc: ['path', 'project'],
      type: 'string_pattern_mismatch',
      msg: "The path should contain 'entity/project', each of 1 to 128 letters, digits, dots, underscores or hyphens",
    },
  ])
}
