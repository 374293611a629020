import { entityOf, PROJECT_RULE, projectId } from '../../kernel/ids.js'
import type { Cause } from '../../kernel/event.js'
import { Failure, invalid } from '../failure.js'
import type { Principal } from '../principal.js'
import type { Access } from './access.js'

/** Does not distinguish missing projects from those without access. */
export const noSuchProject = (): Failure =>
  new Failure('not-found', 'Project not found, or the API key has no access to its team.')

/** Members of its team may know that a project was deleted. */
export const authorizeRead = (
  access: Pick<Access, 'canAccessTeam' | 'canAccessProject'>,
  principal: Principal,
  projectId: string,
): void => {
  const refusal = projectRefusal(access, principal, projectId)
  if (refusal !== undefined) throw refusal
}

export const projectRefusal = (
  { canAccessTeam, canAccessProject }: Pick<Access, 'canAccessTeam' | 'canAccessProject'>,
  principal: Principal,
  projectId: string,
): Failure | undefined => {
  if (canAccessProject(principal, projectId)) return undefined
  return canAccessTeam(principal, entityOf(projectId))
    ? new Failure('not-found', `The project ${projectId} was deleted.`)
    : noSuchProject()
}

export const authorizeWrite = async (
  access: Pick<Access, 'canAccessTeam' | 'canAccessProject' | 'ensureTeam'>,
  principal: Principal,
  projectId: string,
  cause: Cause,
): Promise<void> => {
  authorizeRead(access, principal, projectId)
  await access.ensureTeam(principal, entityOf(projectId), cause)
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * The text of a header that names a project. Headers are bytes: clients send UTF-8, Latin-1 or, where they can only send
 * ASCII, percent-encoding, which no name contains.
 */
export const projectInHeader = (header: string): string => {
  try {
    return decodeURIComponent(utf8.decode(Buffer.from(header, 'latin1')))
  } catch {
    return header
  }
}

export const projectInPath = (params: Readonly<Record<string, string>>): string => {
  const named = `${params['entity']}/${params['project']}`
  if (projectId.is(named)) return named
  throw invalid([
    {
      loc: ['path', 'project'],
      type: 'string_pattern_mismatch',
      msg: `The path should contain 'entity/project', percent-encoded: ${PROJECT_RULE}`,
    },
  ])
}
