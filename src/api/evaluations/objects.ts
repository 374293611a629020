import type { Ports } from '../../kernel/ports/ports.js'
import type { Services } from '../../application/services.js'
import type { AnyCodec, Codec } from '../../kernel/codec/codec.js'
import { withDefault } from '../../kernel/codec/containers.js'
import { open } from '../../kernel/codec/struct.js'
import type { Cause } from '../../kernel/event.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import { jsonText } from '../../kernel/json/text.js'
import { objectId } from '../../domain/objects/events.js'
import { inPages } from '../../kernel/pages.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { versionRef } from '../../domain/refs/ref.js'
import { versionPlaces, versionsAt, type StoredVersion } from '../../projections/objects/queries.js'
import { inPath } from '../server/authorization.js'
import { invalidField } from '../../application/failure.js'
import { JSON_LINES, linesOf, streamedLines } from '../server/json-pages.js'
import { requireNotDeleted, versionsFromLog } from '../../application/objects/object-from-log.js'
import { deletedVersions, deleteVersions, publishObject } from '../../application/objects/publish.js'
import type { AnyRoute } from '../server/route.js'
import { changeProject, readProject, writeProject } from '../server/route-kinds.js'
import { writing } from '../server/run.js'
import { deleted, listInQuery, page, requireFew } from './codecs.js'
import { inV2, noSuch } from './found-calls.js'

/** A collection of objects of one class. */
export interface Collection<Body> {
  readonly name: string
  /** One of it, for messages. */
  readonly singular: string
  /** The base class of its objects; null for ops. */
  readonly baseClass: string | null
  readonly body: Codec<Body>
  readonly created: AnyCodec
  readonly stored: AnyCodec
  readonly nameOf: (body: Body) => string
  /** Makes the content of the object, and stores what it refers to first. */
  readonly valueOf: (body: Body, project: string, id: string, cause: Cause) => Promise<JsonObject>
  /** Further members of what is answered for a version that was created, which has this reference. */
  readonly answered: (ref: string) => JsonObject
  /** The members of a version that the collection reads from its content. */
  readonly membersOf: (val: JsonObject, project: string, position: Position) => Promise<JsonObject>
}

const PAGE = { items: 100, weight: 16 * 1024 * 1024 }

const MAX_NAME = 128

/**
 * The id of an object of a name, as Weave makes it: in lower case, with underscores for blanks and slashes, and without
 * other characters than letters, digits, dots, underscores and hyphens.
 */
const idOfName = (name: string): string => {
  const safe = name.replaceAll(/[ /]/g, '_').replaceAll(/[^\p{L}\p{N}_.-]/gu, '')
  const id = Array.from(safe.toLowerCase()).slice(0, MAX_NAME).join('')
  if (objectId.is(id)) return id
  throw invalidField(['name'], 'value_error', 'Value error, the name should have a letter or a digit')
}

type CollectionServices = Pick<Services, keyof Ports | 'access' | 'reading' | 'throttle'>

type ReadCollection = Omit<Collection<never>, 'body' | 'nameOf' | 'valueOf'>

const kindOf = ({ baseClass }: ReadCollection) => (baseClass === null ? 'op' : 'object')

const versionJson = async (
  { membersOf }: ReadCollection,
  version: StoredVersion,
  project: string,
  position: Position,
): Promise<string> => {
  const { object_id, digest, version_index, created_at } = version
  const val: Json = version.val === null ? null : parseJson(version.val)
  const members = await membersOf(isJsonObject(val) ? val : {}, project, position)
  return jsonText({ object_id, digest, version_index, created_at, ...members })
}

const createVersion = <Body>(services: CollectionServices, collection: Collection<Body>): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path: inV2(collection.name),
    summary: `Create a version of ${collection.singular}. The same content under the same name is the same version.`,
    body: collection.body,
    response: collection.created,
    project: inPath,
    handle: ({ body, project }) => {
      const object_id = idOfName(collection.nameOf(body))
      return async (cause) => {
        const val = await collection.valueOf(body, project, object_id, cause)
        const published = await publishObject(services)(project, object_id, val, cause)
        const { digest, version_index, position } = published
        const ref = versionRef(project, kindOf(collection), object_id, digest)
        return { body: { digest, object_id, version_index, ...collection.answered(ref) }, position }
      }
    },
  })

const listLatest = (services: CollectionServices, collection: ReadCollection): AnyRoute =>
  readProject(services, {
    method: 'get',
    path: inV2(collection.name),
    summary: `List the latest versions of ${collection.name}, one per line.`,
    query: open('EvaluationObjectsQuery', { optional: page }),
    response: { schema: linesOf('One object per line.', collection.stored.schema), type: JSON_LINES },
    project: inPath,
    handle:
      ({ query: { limit, offset }, project, reader }) =>
      async (position) => {
        const filter = {
          exclude_base_object_classes: null,
          leaf_object_classes: null,
          object_ids: null,
          tags: null,
          aliases: null,
          latest_only: true,
          is_op: collection.baseClass === null,
          base_object_classes: collection.baseClass === null ? null : [collection.baseClass],
        }
        const query = { projectId: project, filter, position, sortBy: [], limit, offset }
        const places = await versionPlaces(reader)(query)
        async function* texts() {
          for (const some of inPages(places, ({ bytes }) => bytes, PAGE)) {
            const wanted = { withVal: true, withLabels: false }
            const versions = await versionsAt(reader)(project, some, position, wanted)
            yield await Promise.all(versions.map((one) => versionJson(collection, one, project, position)))
          }
        }
        return streamedLines(texts())
      },
  })

const readVersion = (services: CollectionServices, collection: ReadCollection): AnyRoute => {
  const { baseClass } = collection
  const kind = kindOf(collection)
  const versionAt = versionsFromLog(services)
  return readProject(services, {
    method: 'get',
    path: inV2(`${collection.name}/:object_id/versions/:digest`),
    summary: `Read a version of ${collection.singular} by digest, latest, v<number> or alias.`,
    response: collection.stored,
    project: inPath,
    handle:
      ({ params, project }) =>
      async (position) => {
        const named = { objectId: params['object_id']!, version: params['digest']! }
        const wanted = { projectId: project, position, withVal: true }
        const version = await versionAt({ ...named, ...wanted })
        const isOfClass = baseClass === null || version?.base_object_class === baseClass
        if (version?.kind !== kind || !isOfClass) throw noSuch('Object version')
        requireNotDeleted(version)
        const body = await versionJson(collection, version, project, position)
        return { body, type: 'application/json; charset=utf-8' }
      },
  })
}

const deleteRoute = (services: CollectionServices, collection: ReadCollection): AnyRoute =>
  changeProject(services, {
    method: 'delete',
    path: inV2(`${collection.name}/:object_id`),
    summary: `Delete some or all versions of ${collection.singular}.`,
    query: open('EvaluationVersionsToDelete', { optional: { digests: withDefault(listInQuery, null) } }),
    response: deleted,
    project: inPath,
    handle: ({ params, query: { digests }, project: project_id, principal }) => {
      requireFew(digests ?? [], ['query', 'digests'])
      const object_id = params['object_id']!
      if (!objectId.is(object_id)) throw noSuch('Object')
      const of = { project_id, object_id, versions: digests, wb_user_id: principal.userId }
      return writing(deleteVersions(services, of), deletedVersions)
    },
  })

/** Create, list, read and delete the objects of a collection. */
export const collectionRoutes = <Body>(
  services: CollectionServices,
  collection: Collection<Body>,
): readonly AnyRoute[] => [
  createVersion(services, collection),
  listLatest(services, collection),
  readVersion(services, collection),
  deleteRoute(services, collection),
]
