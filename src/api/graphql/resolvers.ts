import type { Services } from '../../application/services.js'
import { instantOf } from '../../kernel/codec/instant.js'
import type { Cause } from '../../kernel/event.js'
import { execute } from '../../kernel/execute.js'
import {
  entityOf as entityNameOf,
  PROJECT_RULE,
  projectName,
  projectNameOf,
  teamName,
} from '../../kernel/ids.js'
import type { ProjectCommand } from '../../domain/projects/commands.js'
import { projectDecider, type ProjectState } from '../../domain/projects/decider.js'
import { MAX_PROJECT_TEXT, projectStream, projectText } from '../../domain/projects/events.js'
import { Failure } from '../../application/failure.js'
import type { Principal } from '../../application/principal.js'
import { authorizeRead } from '../../application/access/project-access.js'
import { acknowledgeProjects, prepareProjects } from '../server/write-steps.js'

interface GraphQlCaller {
  readonly principal: Principal
  readonly cause: Cause
}

export interface ProjectNames {
  readonly name?: string | null
  readonly entityName?: string | null
}

/** Within a team of the key every project exists. */
export const projectNamed = async (
  services: Pick<Services, 'eventStore' | 'ids' | 'access'>,
  { principal, cause }: GraphQlCaller,
  names: ProjectNames,
) => {
  const project_id = projectIdOf(principal, names)
  authorizeRead(services.access, principal, project_id)
  const { state } = await execute(services)(projectDecider, projectStream(project_id), [], cause)
  return projectOf(project_id, state)
}

export interface UpsertModelInput extends ProjectNames {
  readonly id?: string | null
  readonly description?: string | null
  readonly repo?: string | null
  readonly clientMutationId?: string | null
}

/** Creates a project by name. A retry writes nothing. */
export const upsertModel = async (
  services: Pick<Services, 'eventStore' | 'clock' | 'ids' | 'access' | 'reading' | 'throttle'>,
  { principal, cause }: GraphQlCaller,
  input: UpsertModelInput,
) => {
  const project_id = projectIdOf(principal, input)
  const description = textOf('description', input.description)
  const repo = textOf('repo', input.repo)
  authorizeRead(services.access, principal, project_id)
  if (input.id != null && input.id !== '' && input.id !== project_id)
    throw new Failure(
      'bad-request',
      'input.id should be the id of the project that entityName and name identify.',
    )
  await prepareProjects(services, [project_id], principal, cause)
  const run = (command: ProjectCommand) =>
    execute(services)(projectDecider, projectStream(project_id), [command], cause)
  const created_at = instantOf(services.clock.now())
  const created = await run({ type: 'CreateProject', project_id, created_at })
  const described = await run({ type: 'DescribeProject', project_id, description, repo })
  const position = acknowledgeProjects(services, [project_id], described.readableAt)
  const project = projectOf(project_id, described.state)
  const inserted = created.position !== undefined
  const { clientMutationId = null } = input
  return { position, payload: { model: project, project, inserted, clientMutationId } }
}

const projectIdOf = (principal: Principal, { name, entityName }: ProjectNames): string => {
  if (name == null || name === '')
    throw new Failure('bad-request', 'name is required: the name of the project.')
  const entity = entityName == null || entityName === '' ? defaultEntityOf(principal) : entityName
  if (entity === undefined)
    throw new Failure('bad-request', 'entityName is required: the user of the API key is in no team.')
  if (!teamName.is(entity))
    throw new Failure(
      'bad-request',
      'entityName should have 1 to 128 letters, digits, dots, underscores or hyphens.',
    )
  if (!projectName.is(name)) throw new Failure('bad-request', `name is not valid: ${PROJECT_RULE}.`)
  return `${entity}/${name}`
}

const textOf = (field: string, text: string | null | undefined): string | null => {
  if (text == null || text === '') return null
  if (projectText.is(text)) return text
  throw new Failure('bad-request', `input.${field} should have at most ${MAX_PROJECT_TEXT} characters.`)
}

const projectOf = (project_id: string, { createdAt, description, repo }: ProjectState) => {
  const entityName = entityNameOf(project_id)
  return {
    id: project_id,
    internalId: project_id,
    name: projectNameOf(project_id),
    entityName,
    entity: entityOf(entityName),
    description,
    repo,
    dockerImage: null,
    createdAt,
  }
}

const MAX_TEAMS = 1000

/** Every entity is a team. */
const entityOf = (name: string) => ({ id: name, name, isTeam: true, readOnly: false })

/** The entity of requests that name none; undefined for a user without a team. */
const defaultEntityOf = ({ administrator, teams }: Principal): string | undefined =>
  administrator ? 'default' : teams[0]

export const viewerOf = (principal: Principal) => {
  const { userId, administrator, teams } = principal
  const entity = defaultEntityOf(principal)
  return {
    id: userId,
    username: userId,
    name: userId,
    email: null,
    admin: administrator,
    entity: entity ?? null,
    defaultEntity: entity === undefined ? null : entityOf(entity),
    teams: (page: TeamsPage) => pageOf(teams, page),
    flags: '{}',
    photoUrl: null,
  }
}

interface TeamsPage {
  readonly first?: number | null
  readonly after?: string | null
}

const pageOf = (teams: readonly string[], { first, after }: TeamsPage) => {
  const limit = first ?? MAX_TEAMS
  if (limit < 1 || limit > MAX_TEAMS)
    throw new Failure('bad-request', `first should be between 1 and ${MAX_TEAMS}.`)
  const left = after == null ? teams : teams.filter((team) => team > after)
  const shown = left.slice(0, limit)
  return {
    edges: shown.map((team) => ({ node: entityOf(team), cursor: team })),
    pageInfo: { hasNextPage: left.length > shown.length, endCursor: shown.at(-1) ?? null },
  }
}

/** Does not distinguish missing entities from those without access. */
export const visibleEntity = (
  { access }: Pick<Services, 'access'>,
  principal: Principal,
  name: string | null | undefined,
) => {
  if (name == null || !teamName.is(name) || !access.canAccessTeam(principal, name))
    throw new Failure('not-found', 'Entity not found, or the API key has no access to it.')
  return entityOf(name)
}
