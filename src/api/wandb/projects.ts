import { instantOf } from '../../kernel/codec/instant.js'
import { entityOf as entityNameOf, projectNameOf, teamName } from '../../kernel/ids.js'
import { firstWrites } from '../../projections/first-writes.js'
import { type ProjectState, MAX_PROJECT_TEXT, projectText } from '../../domain/projects/project.js'
import { nameProject, projectNow } from '../../application/projects/projects.js'
import { Failure } from '../../application/failure.js'
import { NO_CONDITIONS } from '../../application/reading/reading.js'
import { typeNamed, typesOf } from './artifact-types.js'
import { artifactNamed, membershipNamed } from './artifacts.js'
import { collectionNamed, collectionsIn } from './collections.js'
import {
  canSee,
  canSeeProject,
  connectionOf,
  caughtUp,
  defaultEntityOf,
  projectIdOf,
  projectToWrite,
  type Caller,
  type PageOf,
  type ProjectNames,
} from './caller.js'
import { runCount, runList, type RunsAsked } from './run-list.js'
import { entityOf } from './viewer.js'

/** Within a team of the key every project exists; null elsewhere. */
export const projectNamed = (caller: Caller, names: ProjectNames) =>
  projectOf(caller, projectIdOf(caller.principal, names))

export const projectOf = async (caller: Caller, project_id: string) => {
  if (!canSeeProject(caller, project_id)) return null
  return shown(caller, project_id, await projectNow(caller.services, project_id))
}

const shown = (caller: Caller, project_id: string, { createdAt, description, repo }: ProjectState) => {
  const entityName = entityNameOf(project_id)
  type Named = { readonly name: string }
  return {
    id: project_id,
    internalId: project_id,
    name: projectNameOf(project_id),
    entityName,
    entity: () => entityOf(caller, entityName),
    description,
    repo,
    dockerImage: null,
    readOnly: false,
    access: 'PRIVATE',
    isBenchmark: false,
    createdAt: () => createdAt ?? firstWriteTo(caller, project_id),
    allowAllArtifactTypesInRegistry: true,
    run: ({ name }: Named) => caller.nodes.run(caller, project_id, name),
    bucket: ({ name }: Named) => caller.nodes.run(caller, project_id, name),
    artifact: ({ name }: Named) => artifactNamed(caller, project_id, name),
    artifactCollectionMembership: ({ name }: Named) => membershipNamed(caller, project_id, name),
    artifactCollection: ({ name }: Named) => collectionNamed(caller, project_id, name),
    artifactSequence: ({ name }: Named) => collectionNamed(caller, project_id, name),
    artifactType: ({ name }: Named) => typeNamed(caller, project_id, name),
    artifactTypes: (page: PageOf) => typesOf(caller, project_id, page),
    artifactCollections: (page: PageOf) => collectionsIn(caller, project_id, null, page),
    runs: (asked: RunsAsked) => runList(caller, project_id, asked),
    runCount: ({ filters }: RunsAsked) => runCount(caller, project_id, filters),
  }
}

const firstWriteTo = async (caller: Caller, project_id: string) => {
  const reader = await caughtUp(caller, project_id)
  const first = await firstWrites(reader)(entityNameOf(project_id), projectNameOf(project_id))
  return first.get(project_id) ?? null
}

/** The projects of an entity that were registered or have runs, artifacts, calls or objects, by name; null for an unknown entity. */
export const projectsIn = async (
  caller: Caller,
  { entityName, ...page }: PageOf & { readonly entityName?: string | null },
) => {
  const entity = entityName ?? defaultEntityOf(caller.principal)
  if (entity === undefined || !teamName.is(entity) || !canSee(caller, entity)) return null
  const { services, reader } = caller
  // A write is acknowledged for its project, and these are all.
  const head = await services.reading.logPosition(NO_CONDITIONS)
  await services.reading.waitForNow(entity, NO_CONDITIONS, head)
  const all = [...(await firstWrites(reader)(entity)).keys()].filter((one) => canSeeProject(caller, one))
  return connectionOf(caller, all, page, String, (project) => () => projectOf(caller, project))
}

export interface UpsertModelInput extends ProjectNames {
  readonly id?: string | null
  readonly description?: string | null
  readonly repo?: string | null
  readonly clientMutationId?: string | null
}

/** Creates a project by name. A retry writes nothing. */
export const upsertModel = async (caller: Caller, input: UpsertModelInput) => {
  const { services, principal, cause } = caller
  const project_id = projectIdOf(principal, input)
  const description = textOf('description', input.description)
  const repo = textOf('repo', input.repo)
  if (input.id != null && input.id !== '' && input.id !== project_id && canSeeProject(caller, project_id))
    throw new Failure(
      'bad-request',
      'input.id should be the id of the project that entityName and name identify.',
    )
  await projectToWrite(caller, input, 'or-make-team')
  const created_at = instantOf(services.clock.now())
  const named = await nameProject(services, project_id, { description, repo, created_at }, cause)
  caller.wrote(project_id, named.readableAt)
  const project = shown(caller, project_id, named.state)
  const { clientMutationId = null } = input
  return { model: project, project, inserted: named.isNew, clientMutationId }
}

const textOf = (field: string, text: string | null | undefined): string | null => {
  if (text == null || text === '') return null
  if (projectText.is(text)) return text
  throw new Failure('bad-request', `input.${field} should have at most ${MAX_PROJECT_TEXT} characters.`)
}
