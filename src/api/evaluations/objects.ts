import type { Ports } from '../../kernel/ports/ports.js'
import type { Services } from '../../application/services.js'
import { Readable } from 'node:stream'
import type { AnyCodec, Codec } from '../../kernel/codec/codec.js'
import { withDefault } from '../../kernel/codec/containers.js'
import { instantOf, type Instant } from '../../kernel/codec/instant.js'
import { open } from '../../kernel/codec/struct.js'
import type { Cause } from '../../kernel/event.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import { jsonText } from '../../kernel/json/text.js'
import { objectDecider } from '../../domain/objects/decider.js'
import { objectId, objectStream } from '../../domain/objects/events.js'
import { inPages } from '../../kernel/pages.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { versionRef } from '../../domain/refs/ref.js'
import { versionPlaces, versionsAt, type StoredVersion } from '../../projections/objects/queries.js'
import { execute } from '../../kernel/execute.js'
import { inPath } from '../server/authorization.js'
import { invalidField } from '../../application/failure.js'
import { asLines, JSON_LINES, linesOf } from '../server/json-pages.js'
import { prefetchFirst } from '../../kernel/prefetch-first.js'
import { versionsFromLog } from '../../application/objects/object-from-log.js'
import { publishObject } from '../../application/objects/publish.js'
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
  readonly shown: AnyCodec
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

/** The id of an object of a name: other characters than letters, digits, dots, underscores and hyphens are replaced. */
const idOfName = (name: string): string => {
  const plain = name.replaceAll(/[^\w.-]+/g, '-').replaceAll(/-{2,}/g, '-')
  const id = plain.replaceAll(/^[-_]+|[-_]+$/g, '').slice(0, MAX_NAME)
  if (objectId.is(id)) return id
  throw invalidField(['name'], 'value_error', 'Value error, the name should have a letter or a digit')
}

/** Create, list, read and delete the objects of a collection. */
export const collectionRoutes = <Body>(
  services: Pick<Services, keyof Ports | 'access' | 'reading' | 'throttle'>,
  collection: Collection<Body>,
): readonly AnyRoute[] => {
  const readVersion = versionsFromLog(services)
  const { name, singular, baseClass, membersOf } = collection
  const kind = baseClass === null ? 'op' : 'object'

  const isOf = ({ kind: found, base_object_class }: StoredVersion): boolean =>
    found === kind && (baseClass === null || base_object_class === baseClass)

  const shown = async (version: StoredVersion, project: string, position: Position): Promise<string> => {
    const { object_id, digest, version_index, created_at } = version
    const val: Json = version.val === null ? null : parseJson(version.val)
    const members = await membersOf(isJsonObject(val) ? val : {}, project, position)
    return jsonText({ object_id, digest, version_index, created_at, ...members })
  }

  return [
    writeProject(services, {
      method: 'post',
      path: inV2(name),
      summary: `Create a version of ${singular}. The same content under the same name is the same version.`,
      body: collection.body,
      response: collection.created,
      project: inPath,
      handle: ({ body, project }) => {
        const object_id = idOfName(collection.nameOf(body))
        return async (cause) => {
          const val = await collection.valueOf(body, project, object_id, cause)
          const { digest, version_index, position } = await publishObject(services)(
            project,
            object_id,
            val,
            cause,
          )
          const ref = versionRef(project, kind, object_id, digest)
          return { body: { digest, object_id, version_index, ...collection.answered(ref) }, position }
        }
      },
    }),
    readProject(services, {
      method: 'get',
      path: inV2(name),
      summary: `List the latest versions of ${name}, one per line.`,
      query: open('EvaluationObjectsQuery', { optional: page }),
      response: { schema: linesOf('One object per line.', collection.shown.schema), type: JSON_LINES },
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
            is_op: baseClass === null,
            base_object_classes: baseClass === null ? null : [baseClass],
          }
          const question = { projectId: project, filter, position, sortBy: [], limit, offset }
          const places = await versionPlaces(reader)(question)
          async function* texts() {
            for (const some of inPages(places, ({ bytes }) => bytes, PAGE)) {
              const versions = await versionsAt(reader)(project, some, position, {
                withVal: true,
                withLabels: false,
              })
              yield await Promise.all(versions.map((version) => shown(version, project, position)))
            }
          }
          return { body: Readable.from(asLines(await prefetchFirst(texts()))), type: JSON_LINES }
        },
    }),
    readProject(services, {
      method: 'get',
      path: inV2(`${name}/:object_id/versions/:digest`),
      summary: `Read a version of ${singular} by digest, latest, v<number> or alias.`,
      response: collection.shown,
      project: inPath,
      handle:
        ({ params, project }) =>
        async (position) => {
          const named = { objectId: params['object_id']!, version: params['digest']! }
          const wanted = { projectId: project, position, withVal: true }
          const version = await readVersion({ ...named, ...wanted })
          if (version === undefined || version.deleted_at !== null || !isOf(version))
            throw noSuch('Object version')
          return { body: await shown(version, project, position), type: 'application/json; charset=utf-8' }
        },
    }),
    changeProject(services, {
      method: 'delete',
      path: inV2(`${name}/:object_id`),
      summary: `Delete some or all versions of ${singular}.`,
      query: open('EvaluationVersionsToDelete', { optional: { digests: withDefault(listInQuery, null) } }),
      response: deleted,
      project: inPath,
      handle: ({ params, query: { digests }, project: project_id, principal }) => {
        requireFew(digests ?? [], ['query', 'digests'])
        const object_id = params['object_id']!
        if (!objectId.is(object_id)) throw noSuch('Object')
        const deleted_at: Instant = instantOf(services.clock.now())
        const by = { deleted_at, wb_user_id: principal.userId }
        const command = { type: 'DeleteVersions', project_id, object_id, versions: digests, ...by } as const
        const stream = objectStream(project_id, object_id)
        return writing((cause) => execute(services)(objectDecider, stream, [command], cause), {
          respond: ({ events }) => ({
            body: { num_deleted: events.filter(({ type }) => type === 'ObjectDeleted').length },
          }),
        })
      },
    }),
  ]
}
