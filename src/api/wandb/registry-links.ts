import { registryAdministrator } from '../../domain/access/roles.js'
import { createdOf } from '../../application/artifacts/stored-versions.js'
import { collectionName, projectOfPlace } from '../../domain/artifacts/place.js'
import { versionName } from '../../domain/artifacts/version-name.js'
import { requireRole, throwIfRefused } from '../../application/access/rights.js'
import { Failure } from '../../application/failure.js'
import { addressable } from '../../kernel/ids.js'
import { createRegistry, hasRegistry } from '../../application/artifacts/registries.js'
import { membershipNamed } from './artifacts.js'
import { projectIdOf, requireTeam, type Caller, type ProjectNames } from './caller.js'
import { idOfClientId } from './client-ids.js'
import { collectionOfId } from './collections.js'
import { placeIn, registryIn } from './places.js'
import { checkedAlias } from './uploads.js'
import { findToWrite, notFound } from './versions.js'

export interface LinkArtifactInput {
  readonly artifactID?: string | null
  readonly clientID?: string | null
  readonly artifactPortfolioName?: string | null
  readonly entityName?: string | null
  readonly projectName?: string | null
  readonly aliases?: readonly { readonly alias: string }[] | null
}

/** Links a version to a registry, where `latest` and the given aliases point at it. */
export const linkArtifact = async (caller: Caller, input: LinkArtifactInput) => {
  const artifactID =
    input.artifactID ?? (input.clientID == null ? undefined : await idOfClientId(caller, input.clientID))
  if (artifactID === undefined)
    throw new Failure('bad-request', 'input.artifactID is required: wait until the artifact is logged.')
  const aliases = (input.aliases ?? []).map(({ alias }) => checkedAlias(alias))
  const { found } = await findToWrite(caller, artifactID)
  const names: ProjectNames = { name: input.projectName ?? null, entityName: input.entityName ?? null }
  const project = projectIdOf(caller.principal, names)
  const registry = registryIn(project)
  const place = placeIn(project, input.artifactPortfolioName ?? '')
  if (registry === undefined)
    throw new Failure(
      'bad-request',
      'An artifact is linked to a registry, not to a project: use the path wandb-registry-<registry>/<collection> with ' +
        'link_artifact. link_model always names the project model-registry, and is not supported.',
    )
  if (place === undefined || !addressable(collectionName).is(place.collection))
    throw new Failure('not-found', 'Collection not found.')
  requireRole(caller.services.access, caller.principal, place.team, 'member')
  const isThere = await hasRegistry(caller.services, place.team, registry)
  if (!isThere)
    throw new Failure(
      'not-found',
      `There is no registry named ${registry} in team ${place.team}. A user with the role registry_administrator can create it.`,
    )
  const { known, described } = found.version
  const { artifact_id, type } = createdOf(found.version)
  const linked = await caller.collections.writeRegistered(
    {
      type: 'LinkVersion',
      place,
      link_id: null,
      source: {
        project_id: found.place.project_id!,
        collection: found.place.collection,
        version: known.version,
        artifact_id,
      },
      artifactType: type,
      metadata: described.metadata,
      aliases,
      movesLatest: true,
      tags: known.tags,
    },
    caller.cause,
  )
  throwIfRefused(linked.refusals.get(0))
  const versionIndex = linked.state.byId.get(artifact_id) ?? 0
  const version = versionName(versionIndex)
  caller.wrote(project, linked.readableAt)
  caller.wrote(projectOfPlace(found.place), linked.readableAt)
  return {
    versionIndex,
    artifactMembership: () => membershipNamed(caller, project, `${place.collection}:${version}`),
  }
}

export interface UnlinkArtifactInput {
  readonly artifactID: string
  readonly artifactPortfolioID: string
}

export const unlinkArtifact = async (caller: Caller, input: UnlinkArtifactInput) => {
  const { named } = await findToWrite(caller, input.artifactID)
  const place = collectionOfId(caller, input.artifactPortfolioID)
  if (place?.registry == null) throw new Failure('not-found', 'Collection not found.')
  const version = (await caller.collections.read(place)).byId.get(named.artifact)
  if (version == null) throw notFound()
  const written = await caller.collections.writeRegistered(
    { type: 'UnlinkVersion', place, version: versionName(version) },
    caller.cause,
  )
  throwIfRefused(written.refusals.get(0))
  caller.wrote(projectOfPlace(place), written.readableAt)
  return { success: true }
}

/** A registry, which clients make as a project. */
export const upsertRegistry = async (caller: Caller, project: string, registry: string): Promise<boolean> => {
  const { services, principal, cause } = caller
  const [team] = project.split('/') as [string]
  requireTeam(caller, team)
  requireRole(services.access, principal, team, registryAdministrator(registry))
  if (await hasRegistry(services, team, registry)) return false
  const written = await createRegistry(services, { team, registry, id: services.ids.next() }, cause)
  return written.position !== undefined
}
