import type { Ports } from '../../kernel/ports/ports.js'
import type { Services } from '../../application/services.js'
import { contentDigest } from '../../domain/artifacts/content.js'
import { isLargerThan } from '../../kernel/json/measure.js'
import { collectionStream } from '../../domain/artifacts/place.js'
import { versionName } from '../../domain/artifacts/version-name.js'
import { instantOf } from '../../kernel/codec/instant.js'
import { repeatableId } from '../server/idempotency.js'
import { pageOf, pageQuery } from '../server/page.js'
import { inPath } from '../server/authorization.js'
import { invalidField } from '../../application/failure.js'
import type { AnyRoute, RouteRequest } from '../server/route.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { isAsOf } from '../server/read-conditions.js'
import { alsoAsOf, readProjectLog, idempotent, writeProject } from '../server/route-kinds.js'
import { writing } from '../server/run.js'
import { artifactVersion, createdVersion, newVersion, type NewVersion } from './codecs.js'
import type { Collections } from '../../application/artifacts/collections.js'
import { placeInPath, type ProjectPlace } from './place.js'
import { createdOf, type StoredVersion } from '../../application/artifacts/stored-versions.js'
import { listVersions, readVersion } from './version-list.js'
import { labelRoutes } from './labels.js'

const COLLECTION = '/api/artifacts/:entity/:project/:collection'

const MAX_ALIASES = 32
const MAX_FILES_BYTES = 524_288

type VersionServices = Pick<Services, keyof Ports | 'access' | 'reading' | 'throttle'>

const createVersion = (services: VersionServices, collections: Collections): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path: `${COLLECTION}/versions`,
    summary:
      'Creates a version of a collection, or returns the existing version with this content. The alias latest moves to ' +
      'a new version; the given aliases are set in both cases.',
    body: newVersion,
    ...idempotent,
    response: createdVersion,
    project: inPath,
    handle: (request) => {
      const place = placeInPath(request)
      const { content, aliases } = contentOf(request.body)
      const artifact_id = artifactId(services, request, place)
      const digest = contentDigest(services.sha256, content)
      const now = instantOf(services.clock.now())
      const command = {
        type: 'CreateVersion',
        place,
        artifact_id,
        digest,
        ...content,
        uploaded: null,
        aliases,
        now,
      } as const
      return writing(
        (cause) => collections.write(command, cause),
        ({ state: { byId, byDigest, versions } }) => {
          const { version, artifactId } = versions.get(byId.get(artifact_id) ?? byDigest.get(digest)!)!
          return { version: versionName(version), artifact_id: artifactId, digest }
        },
      )
    },
  })

const listVersionsRoute = (services: VersionServices, collections: Collections): AnyRoute =>
  readProjectLog(services, {
    method: 'get',
    path: `${COLLECTION}/versions`,
    summary:
      "Lists a collection's versions by number; pages of large versions may be shorter than the limit.",
    query: pageQuery,
    ...alsoAsOf,
    response: pageOf(artifactVersion),
    project: inPath,
    handle: (request) => {
      const place = placeInPath(request)
      return async (position) => {
        const list = listVersions(services, readsOf(collections, request, position))
        return { body: await list(place, request.query, versionJson) }
      }
    },
  })

const readVersionRoute = (services: VersionServices, collections: Collections): AnyRoute =>
  readProjectLog(services, {
    method: 'get',
    path: `${COLLECTION}/versions/:version`,
    summary: 'Reads a version by its name, such as v3, or by an alias, such as latest.',
    ...alsoAsOf,
    response: artifactVersion,
    project: inPath,
    handle: (request) => {
      const place = placeInPath(request)
      const version = request.params['version']!
      return async (position) => {
        const read = readVersion(services, readsOf(collections, request, position))
        return { body: versionJson(await read(place, version)) }
      }
    },
  })

/** Reads of collections as of now, or of the position that the request names. */
const readsOf = (
  collections: Collections,
  { headers }: Pick<RouteRequest, 'headers'>,
  position: Position,
): Pick<Collections, 'read'> =>
  isAsOf(headers) ? { read: (place) => collections.readAt(place, position) } : collections

/** What a body says a version is. @throws Failure that names what is too much of it */
const contentOf = ({ type, metadata, files, aliases }: NewVersion) => {
  if (aliases !== null && aliases.length > MAX_ALIASES)
    throw invalidField(
      ['aliases'],
      'too_long',
      `List should have at most ${MAX_ALIASES} items after validation`,
    )
  if (isLargerThan(MAX_FILES_BYTES, files))
    throw invalidField(['files'], 'value_error', `Value should have at most ${MAX_FILES_BYTES} bytes as JSON`)
  const paths = new Set<string>()
  for (const [index, { path }] of (files ?? []).entries())
    if (paths.has(path)) throw invalidField(['files', index, 'path'], 'value_error', 'Duplicate file path')
    else paths.add(path)
  return { content: { artifactType: type, metadata: metadata ?? {}, files }, aliases: aliases ?? [] }
}

/** Includes the collection, since artifact ids are unique in the whole service but an `Idempotency-Key` is not. */
const artifactId = (
  services: Pick<Services, 'ids' | 'sha256'>,
  request: Pick<RouteRequest, 'headers' | 'principal'>,
  place: ProjectPlace,
) => repeatableId(services, request, collectionStream(place))

const versionJson = (stored: StoredVersion) => {
  const { known, event, aliases } = stored
  const { metadata, description } = stored.described
  const { artifact_id, digest, type, files, manifest, run_id, created_at } = createdOf(stored)
  return {
    version: versionName(known.version),
    artifact_id,
    digest,
    type,
    metadata,
    description,
    files: files ?? [],
    file_count: manifest?.files ?? files?.length ?? 0,
    size: manifest?.size ?? (files ?? []).reduce((sum, { size }) => sum + size, 0),
    run_id: run_id ?? null,
    aliases,
    tags: known.tags,
    created_at,
    created_by: event.metadata.actor,
  }
}

export const artifactRoutes = (services: Services, collections: Collections): readonly AnyRoute[] => [
  createVersion(services, collections),
  listVersionsRoute(services, collections),
  readVersionRoute(services, collections),
  ...labelRoutes({
    collection: COLLECTION,
    labelRoute: ({ handle, ...spec }) =>
      writeProject(services, {
        ...spec,
        project: inPath,
        handle: (request) => handle(request, placeInPath(request)),
      }),
    write: collections.write,
  }),
]
