import type { Services } from '../../../application/services.js'
import type * as t from 'io-ts'
import { collectionStream, type CollectionPlace } from '../../../domain/artifacts/place.js'
import { versionName } from '../../../domain/artifacts/version-name.js'
import { instantOf } from '../../../kernel/codec/instant.js'
import { open } from '../../../kernel/codec/struct.js'
import { entityOf } from '../../../kernel/ids.js'
import { idFromKey } from '../../server/idempotency.js'
import { pageFields, pageOf } from '../../server/page.js'
import type { Collections } from '../../../application/artifacts/collections.js'
import { collectionInPath, placeInProject } from '../place.js'
import { createdOf, linkedOf, type StoredVersion } from '../../../application/artifacts/stored-versions.js'
import { listVersions, readVersion } from '../version-list.js'
import type { Authorization } from '../../server/authorization.js'
import { emptyResponse } from '../../server/empty-response.js'
import { authorizeRead } from '../../../application/access/project-access.js'
import type { AnyRoute, RouteRequest } from '../../server/route.js'
import { readLog, writeDirectory } from '../../server/route-kinds.js'
import { writing } from '../../server/run.js'
import { linkedVersion, newLink, registeredVersion } from './codecs.js'
import { findRegistry, teamFields, teamQuery } from './find.js'

export const REGISTERED = '/api/registries/:registry/:collection'

/** The registry collection in the path, within the teams of the key. A name that several teams use is a conflict. */
const collectionOf = (
  services: Pick<Services, 'access' | 'eventStore'>,
): Authorization<{ readonly place: CollectionPlace }> => ({
  errors: ['not-found', 'conflict'],
  authorize: async (request: RouteRequest<unknown, t.TypeOf<typeof teamQuery>>) => {
    const { team, registry } = await findRegistry(services, request)
    return { place: { team, registry, collection: collectionInPath(request), project_id: null } }
  },
})

export const ofRegistry = (services: Pick<Services, 'access' | 'eventStore'>) => ({
  query: teamQuery,
  authorization: collectionOf(services),
})

type LinkServices = Pick<Services, 'eventStore' | 'ids' | 'sha256' | 'access' | 'reading'>

const linkVersion = (services: LinkServices, collections: Collections): AnyRoute =>
  writeDirectory({
    method: 'post',
    path: `${REGISTERED}/links`,
    summary:
      "Links a project's version to a registry's collection, which assigns a version number; a version already linked keeps its " +
      'number. Requires membership in both teams.',
    body: newLink,
    ...ofRegistry(services),
    requestHeaders: ['Idempotency-Key'],
    response: linkedVersion,
    handle: async (request) => {
      const { place, principal } = request
      const link_id = linkId(services, request, place)
      const { entity, project, collection, version } = request.body
      const project_id = `${entity}/${project}`
      authorizeRead(services.access, principal, project_id)
      const linked = await readVersion(services, collections)(placeInProject(project_id, collection), version)
      const { known, described } = linked
      const { artifact_id, type: artifactType } = createdOf(linked)
      const command = {
        type: 'LinkVersion',
        place,
        source: { project_id, collection, version: known.version, artifact_id },
        artifactType,
        metadata: described.metadata,
        link_id,
        aliases: [],
        movesLatest: false,
        tags: known.tags,
      } as const
      return writing(
        (cause) => collections.writeRegistered(command, cause),
        ({ state: { byLink, byId } }) => ({
          version: versionName(byLink.get(link_id ?? '') ?? byId.get(artifact_id)!),
          artifact_id,
        }),
      )
    },
  })

const unlinkVersion = (services: LinkServices, collections: Collections): AnyRoute =>
  writeDirectory({
    method: 'delete',
    path: `${REGISTERED}/links/:version`,
    summary: 'Removes a version from a registry, by its name there or an alias. Its aliases are removed too.',
    ...ofRegistry(services),
    response: emptyResponse,
    handle: ({ place, params }) => {
      const command = { type: 'UnlinkVersion', place, version: params['version']! } as const
      return writing((cause) => collections.writeRegistered(command, cause))
    },
  })

const listLinked = (services: LinkServices, collections: Collections): AnyRoute =>
  readLog(services, {
    method: 'get',
    path: `${REGISTERED}/versions`,
    summary: "Lists the versions linked to a registry's collection, by number.",
    ...ofRegistry(services),
    query: open('RegisteredVersions', { optional: { ...teamFields, ...pageFields } }),
    response: pageOf(registeredVersion),
    handle:
      ({ place, query }) =>
      async () => ({ body: await listVersions(services, collections)(place, query, registeredJson) }),
  })

const readLinked = (services: LinkServices, collections: Collections): AnyRoute =>
  readLog(services, {
    method: 'get',
    path: `${REGISTERED}/versions/:version`,
    summary: 'Reads a version by its name in the registry, such as v0, or by an alias.',
    ...ofRegistry(services),
    response: registeredVersion,
    handle:
      ({ place, params }) =>
      async () => ({
        body: registeredJson(await readVersion(services, collections)(place, params['version']!)),
      }),
  })

export const linkRoutes = (services: LinkServices, collections: Collections): readonly AnyRoute[] =>
  [linkVersion, unlinkVersion, listLinked, readLinked].map((route) => route(services, collections))

/** A repeat can only be told under an `Idempotency-Key`, which speaks of one collection. */
const linkId = (
  services: Pick<Services, 'sha256'>,
  request: Pick<RouteRequest, 'headers' | 'principal'>,
  place: CollectionPlace,
) => idFromKey(services, request, collectionStream(place)) ?? null

const registeredJson = (stored: StoredVersion) => {
  const { known, event, aliases, described } = stored
  const { source, type } = linkedOf(stored)
  const { project_id, collection, version, artifact_id } = source
  const entity = entityOf(project_id)
  return {
    version: versionName(known.version),
    source: {
      entity,
      project: project_id.slice(entity.length + 1),
      collection,
      version: versionName(version),
    },
    artifact_id,
    type,
    metadata: described.metadata,
    aliases,
    tags: known.tags,
    linked_at: instantOf(event.recordedAt),
    linked_by: event.metadata.actor,
  }
}
