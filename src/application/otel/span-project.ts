import type { Resource } from '../../domain/otel/span.js'
import { addressable, projectId, teamName } from '../../kernel/ids.js'
import type { Json } from '../../kernel/json/json.js'

/** The project of spans without a name of one. */
const UNNAMED = 'default'

/** The name that SDKs of OpenTelemetry give to a program without one. */
const UNKNOWN_SERVICE = /^unknown_service(:|$)/

/**
 * The project that a resource names: `wandb.entity` and `wandb.project`, else `openinference.project.name`, else
 * `service.name` with `-` in place of what a name may not contain. A name without a team is of the default team.
 */
export const projectOfResource = ({ attributes }: Resource, defaultTeam: string): string => {
  const [entity, project] = [textOf(attributes['wandb.entity']), textOf(attributes['wandb.project'])]
  if (project !== '') return inTeam(entity === '' ? project : `${entity}/${project}`, defaultTeam)
  const named = textOf(attributes['openinference.project.name'])
  if (named !== '') return inTeam(named, defaultTeam)
  const service = textOf(attributes['service.name'])
  return `${defaultTeam}/${UNKNOWN_SERVICE.test(service) ? UNNAMED : legalName(service)}`
}

/** `team/project`, or a project of the default team, as a client names it. */
export const inTeam = (named: string, defaultTeam: string): string => {
  const project = named.includes('/') ? named : `${defaultTeam}/${named}`
  const [team = '', ...rest] = project.split('/')
  const isLegal: boolean = TEAM.is(team) && projectId.is(project) && !RESERVED.test(project)
  return isLegal ? project : `${TEAM.is(team) ? team : defaultTeam}/${legalName(rest.join('-'))}`
}

const TEAM = addressable(teamName)

/** Names that no address can contain, or that have another meaning there. */
const RESERVED = /\/(?:-|\.|\.\.)$/

const legalName = (text: string): string => {
  const name = text
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}._ -]+/gu, '-')
    .slice(0, 100)
    .trim()
  return projectId.is(`team/${name}`) && !RESERVED.test(`/${name}`) ? name : UNNAMED
}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
