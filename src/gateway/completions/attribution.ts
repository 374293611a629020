import type { IncomingHttpHeaders } from 'node:http'
import { entityOf, PROJECT_RULE, projectId } from '../../kernel/ids.js'
import { projectInHeader } from '../../application/access/project-access.js'
import { Failure } from '../../application/failure.js'
import { defaultEntity, type Principal } from '../../application/principal.js'
import type { Services } from '../../application/services.js'

const DEFAULT_PROJECT = 'inference'
const OF_OPENAI = /^proj_\w+$/

/**
 * The project that a completion is written to: the one of `<Vendor>-Project`, or of `OpenAI-Project`, or else that of a
 * trained model, or else `inference` of the key's default team.
 *
 * @throws Failure for a project that the key may not use, or that is none: 401, as clients of the field expect
 */
export const attributedProject = (
  { access, vendor }: Pick<Services, 'access' | 'vendor'>,
  headers: IncomingHttpHeaders,
  principal: Principal,
  modelProject?: string,
): string => {
  const header = headers[`${vendor.toLowerCase()}-project`] ?? headers['openai-project']
  const named = header === undefined || header === '' ? undefined : projectInHeader(String(header))
  const project = named ?? modelProject ?? `${defaultEntity(principal)}/${DEFAULT_PROJECT}`
  if (OF_OPENAI.test(project))
    throw refused('The project header has the id of a project of OpenAI: send team/project, or leave it out.')
  if (!projectId.is(project)) throw refused(`Invalid project header: expected team/project: ${PROJECT_RULE}.`)
  if (!access.canAccessTeam(principal, entityOf(project)))
    throw refused(
      named === undefined
        ? 'Authentication failed: the user of the API key is in no team. Ask a team administrator to add them.'
        : 'Authentication failed: the API key has no access to the team of the project header.',
    )
  return project
}

const refused = (reason: string): Failure => new Failure('unauthenticated', reason)
