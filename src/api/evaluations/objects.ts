import { noSuch } from '../../application/evaluations/logged-runs.js'
import { invalidField } from '../../application/failure.js'
import { requireNotDeleted, versionsFromLog } from '../../application/objects/object-from-log.js'
import { deletedVersions, deleteVersions, publishObject } from '../../application/objects/publish.js'
import { objectId } from '../../domain/objects/events.js'
import { versionRef } from '../../domain/refs/ref.js'
import type { Codec } from '../../kernel/codec/codec.js'
import { withDefault } from '../../kernel/codec/containers.js'
import { open } from '../../kernel/codec/struct.js'
import type { Cause } from '../../kernel/event.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import { jsonText } from '../../kernel/json/text.js'
import { inPages } from '../../kernel/pages.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { type StoredVersion, versionPlaces, versionsAt } from '../../projections/objects/queries.js'
import { inPath } from '../server/authorization.js'
import { JSON_LINES, linesOf, streamedLines } from '../server/json-pages.js'
import { changeProject, readProject, writeProject } from '../server/route-kinds.js'
import type { AnyRoute, ResponseSpec } from '../server/route.js'
import { writing } from '../server/run.js'
import { type EvaluationRouteServices, inV2 } from './call-collections.js'
import { deleted, listInQuery, page, requireFew } from './codecs.js'

interface CreatedVersion {
  readonly digest: string
  readonly object_id: string
  readonly version_index: number
}

/** A collection of objects of one class. */
export interface Collection<Body extends { readonly name: string }, Created, Stored> {
  readonly name: string
  /** One of it, for messages. */
  readonly singular: string
  /** The base class of its objects; null for ops. */
  readonly baseClass: string | null
  readonly body: Codec<Body>
  readonly created: ResponseSpec<Created>
  readonly stored: ResponseSpec<Stored>
  /** Makes the content of the object, and stores what it refers to first. */
  readonly valueOf: (body: Body, project: string, id: string, cause: Cause) => Promise<JsonObject>
  /** The answer for a version that was created, which has this reference. */
  readonly createdJson: (version: CreatedVersion, ref: string) => Created
  readonly storedJson: (
    version: CreatedVersion & Pick<StoredVersion, 'created_at'>,
    val: JsonObject,
    project: string,
    position: Position,
  ) => Stored | Promise<Stored>
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

type ReadCollection<Stored> = Omit<
  Collection<never, never, Stored>,
  'body' | 'created' | 'valueOf' | 'createdJson'
>

const kindOf = ({ baseClass }: { readonly baseClass: string | null }) =>
  baseClass === null ? 'op' : 'object'

const versionJson = async <Stored extends JsonObject>(
  { storedJson }: ReadCollection<Stored>,
  { object_id, digest, version_index, created_at, val }: StoredVersion,
  project: string,
  position: Position,
) => {
  const value: Json = val === null ? null : parseJson(val)
  const version = { object_id, digest, version_index, created_at }
  return storedJson(version, isJsonObject(value) ? value : {}, project, position)
}

const createVersion = <Body extends { readonly name: string }, Created>(
  services: EvaluationRouteServices,
  collection: Collection<Body, Created, unknown>,
): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path: inV2(collection.name),
    summary: `Create a version of ${collection.singular}. The same content under the same name is the same version.`,
    body: collection.body,
    response: collection.created,
    project: inPath,
    handle: ({ body, project }) => {
      const object_id = idOfName(body.name)
      return async (cause) => {
        const val = await collection.valueOf(body, project, object_id, cause)
        const published = await publishObject(services)(project, object_id, val, cause)
        const { digest, version_index, position } = published
        const ref = versionRef(project, kindOf(collection), object_id, digest)
        return { body: collection.createdJson({ digest, object_id, version_index }, ref), position }
      }
    },
  })

const listLatest = (services: EvaluationRouteServices, collection: ReadCollection<JsonObject>): AnyRoute =>
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
            const shown = versions.map((one) => versionJson(collection, one, project, position))
            yield (await Promise.all(shown)).map(jsonText)
          }
        }
        return streamedLines(texts())
      },
  })

const readVersion = <Stored extends JsonObject>(
  services: EvaluationRouteServices,
  collection: ReadCollection<Stored>,
): AnyRoute => {
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
        return { body: await versionJson(collection, version, project, position) }
      },
  })
}

const deleteRoute = (services: EvaluationRouteServices, collection: ReadCollection<JsonObject>): AnyRoute =>
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
export const collectionRoutes = <Body extends { readonly name: string }, Created, Stored extends JsonObject>(
  services: EvaluationRouteServices,
  collection: Collection<Body, Created, Stored>,
): readonly AnyRoute[] => [
  createVersion(services, collection),
  listLatest(services, collection),
  readVersion(services, collection),
  deleteRoute(services, collection),
]
