import { teamName } from '../../kernel/ids.js'
import { Failure } from '../../application/failure.js'
import { instantOf } from '../../kernel/codec/instant.js'
import { throwIfRefused } from '../../application/access/rights.js'
import { canSee, projectIdOf, projectToWrite, type Caller, type PageOf, type ProjectNames } from './caller.js'
import { artifactOf, artifactWithId, findById, placeOfId } from './artifacts.js'
import { idOfClientId } from './client-ids.js'
import {
  deleteCollection,
  tagCollection,
  updateCollection,
  type CollectionTagsInput,
  type UpdateCollectionInput,
} from './collection-changes.js'
import { deleteFiles } from './run-files.js'
import { collectionNamed, collectionOfId } from './collections.js'
import { idsMadeAloneBy } from './lineage.js'
import { registryIn } from './places.js'
import { projectOfPlace } from '../../domain/artifacts/place.js'
import { projectNamed, projectOf, projectsIn, upsertModel, type UpsertModelInput } from './projects.js'
import {
  createRunFiles,
  deleteRun,
  stopRun,
  upsertBucket,
  type CreateRunFilesInput,
  type UpsertBucketInput,
} from './run-changes.js'
import {
  commitArtifact,
  completeUpload,
  createArtifact,
  createArtifactFiles,
  createArtifactManifest,
  updateArtifactManifest,
  type UpdateManifestInput,
  type CreateArtifactFilesInput,
  type CreateArtifactInput,
  type CreateManifestInput,
} from './uploads.js'
import type { CompleteUploadInput } from './direct-uploads.js'
import {
  addAliases,
  deleteAliases,
  deleteArtifact,
  updateArtifact,
  type AliasesInput,
  type DeleteArtifactInput,
  type UpdateArtifactInput,
} from './versions.js'
import {
  linkArtifact,
  unlinkArtifact,
  upsertRegistry,
  type LinkArtifactInput,
  type UnlinkArtifactInput,
} from './registry-links.js'
import { organizationOf, viewerOf, visibleEntity } from './viewer.js'

interface Input<A> {
  readonly input: A
}

interface Id {
  readonly id: string
}

/** The fields of Query and Mutation. Absent things are null: clients have sentences of their own for them. */
export const rootOf = (caller: Caller) => ({
  viewer: () => viewerOf(caller),
  project: (names: ProjectNames) => projectNamed(caller, names),
  model: (names: ProjectNames) => projectNamed(caller, names),
  models: (asked: PageOf & Pick<ProjectNames, 'entityName'>) => projectsIn(caller, asked),
  entity: ({ name }: ProjectNames) => visibleEntity(caller, name),
  organization: ({ name }: { readonly name: string }) =>
    teamName.is(name) && canSee(caller, name) ? organizationOf(caller, name) : null,
  serverInfo: {
    frontendHost: null,
    // Older clients ask for what the newest of these versions can.
    cliVersionInfo: { max_cli_version: '0.31.0' },
    latestLocalVersionInfo: null,
    features: [],
  },
  artifact: ({ id }: Id) => artifactWithId(caller, id),
  artifactCollection: ({ id }: Id) => {
    const place = collectionOfId(caller, id)
    return place === undefined ? null : collectionNamed(caller, projectOfPlace(place), place.collection)
  },
  clientIDMapping: async ({ clientID }: { readonly clientID: string }) => {
    const serverID = await idOfClientId(caller, clientID)
    return serverID === undefined ? null : { serverID }
  },

  upsertModel: ({ input }: Input<UpsertModelInput>) => upsertProjectOrRegistry(caller, input),
  upsertBucket: ({ input }: Input<UpsertBucketInput>) => upsertBucket(caller, input),
  stopRun: ({ input }: Input<Id>) => stopRun(caller, input),
  deleteRun: ({ input }: Input<DeleteRunInput>) => deleteRunAndArtifacts(caller, input),
  deleteFiles: ({ input }: Input<{ readonly files: readonly string[] }>) => deleteFiles(caller, input),
  createRunFiles: ({ input }: Input<CreateRunFilesInput>) => createRunFiles(caller, input),
  notifyScriptableRunAlert: () => ({ success: true }),
  createArtifact: ({ input }: Input<CreateArtifactInput>) => createArtifact(caller, input),
  updateArtifactManifest: ({ input }: Input<UpdateManifestInput>) => updateArtifactManifest(caller, input),
  createArtifactManifest: ({ input }: Input<CreateManifestInput>) => createArtifactManifest(caller, input),
  createArtifactFiles: ({ input }: Input<CreateArtifactFilesInput>) => createArtifactFiles(caller, input),
  completeMultipartUploadArtifact: ({ input }: Input<CompleteUploadInput>) => completeUpload(caller, input),
  commitArtifact: ({ input }: Input<{ readonly artifactID: string }>) => commitArtifact(caller, input),
  useArtifact: ({ input }: Input<UseArtifactInput>) => useArtifact(caller, input),
  updateArtifact: ({ input }: Input<UpdateArtifactInput>) => updateArtifact(caller, input),
  deleteArtifact: ({ input }: Input<DeleteArtifactInput>) => deleteArtifact(caller, input),
  addAliases: ({ input }: Input<AliasesInput>) => addAliases(caller, input),
  deleteAliases: ({ input }: Input<AliasesInput>) => deleteAliases(caller, input),
  linkArtifact: ({ input }: Input<LinkArtifactInput>) => linkArtifact(caller, input),
  unlinkArtifact: ({ input }: Input<UnlinkArtifactInput>) => unlinkArtifact(caller, input),
  updateArtifactSequence: ({ input }: Input<UpdateCollectionInput>) => updateCollection(caller, input),
  updateArtifactPortfolio: ({ input }: Input<UpdateCollectionInput>) => updateCollection(caller, input),
  createArtifactCollectionTagAssignments: ({ input }: Input<CollectionTagsInput>) =>
    tagCollection(caller, input, 'tagsToAdd'),
  deleteArtifactCollectionTagAssignments: ({ input }: Input<CollectionTagsInput>) =>
    tagCollection(caller, input, 'tagsToDelete'),
  deleteArtifactSequence: ({ input }: Input<{ readonly artifactSequenceID: string }>) =>
    deleteCollection(caller, input.artifactSequenceID),
  deleteArtifactPortfolio: ({ input }: Input<{ readonly artifactPortfolioID: string }>) =>
    deleteCollection(caller, input.artifactPortfolioID),
})

const upsertProjectOrRegistry = async (caller: Caller, input: UpsertModelInput) => {
  const project = projectIdOf(caller.principal, input)
  const registry = registryIn(project)
  if (registry === undefined) return upsertModel(caller, input)
  const inserted = await upsertRegistry(caller, project, registry)
  const shown = await projectOf(caller, project)
  return { model: shown, project: shown, inserted, clientMutationId: input.clientMutationId ?? null }
}

interface DeleteRunInput extends Id {
  readonly deleteArtifacts?: boolean | null
}

const deleteRunAndArtifacts = async (caller: Caller, { id, deleteArtifacts }: DeleteRunInput) => {
  const place = await deleteRun(caller, id)
  const made = deleteArtifacts === true ? await idsMadeAloneBy(caller, place) : []
  for (const artifactID of made) await deleteArtifact(caller, { artifactID, deleteAliases: true })
  return { clientMutationId: null }
}

interface UseArtifactInput {
  readonly entityName: string
  readonly projectName: string
  readonly runName: string
  readonly artifactID: string
}

const useArtifact = async (caller: Caller, input: UseArtifactInput) => {
  const named = placeOfId(caller, input.artifactID)
  const found = named && (await findById(caller, named))
  if (found === undefined) throw new Failure('not-found', 'Artifact not found.')
  const names = { name: input.projectName, entityName: input.entityName }
  const project_id = await projectToWrite(caller, names)
  const { place, version } = found
  const written = await caller.runs.write(
    {
      type: 'UseArtifact',
      project_id,
      run_id: input.runName,
      artifact_id: version.known.artifactId,
      source_project: projectOfPlace(place),
      collection: place.collection,
      now: instantOf(caller.services.clock.now()),
    },
    caller.cause,
  )
  throwIfRefused(written.refusals.get(0))
  caller.wrote(project_id, written.readableAt)
  caller.wrote(projectOfPlace(place), written.readableAt)
  return { artifact: () => artifactOf(caller, found) }
}
