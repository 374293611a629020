import type { Ports } from '../../kernel/ports/ports.js'
import { readConditionsIn } from '../server/read-conditions.js'
import type { Services } from '../../application/services.js'
import { arrayOf, nullable, nullableText, withDefault } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { boolean, int64, json, oneOf, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { projectId } from '../../kernel/ids.js'
import { objectId } from '../../domain/objects/events.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { contentDigestInSteps } from '../../domain/objects/weave-digest.js'
import type { StoredVersion } from '../../projections/objects/queries.js'
import { inBody } from '../server/authorization.js'
import { Failure } from '../../application/failure.js'
import type { AnyRoute } from '../server/route.js'
import { changeProject, readProject, writeProject } from '../server/route-kinds.js'
import { writing } from '../server/run.js'
import { builtinObject } from '../../application/objects/builtin-object.js'
import { requireNotDeleted, versionsFromLog } from '../../application/objects/object-from-log.js'
import { deletedVersions, deleteVersions, publishObject } from '../../application/objects/publish.js'

/** The OpenAPI schema of what `objectJson` writes. */
export const objectSchema = open('Object', {
  required: {
    project_id: projectId,
    object_id: string,
    created_at: instant,
    digest: string,
    version_index: int64,
    is_latest: int64,
    kind: oneOf('op', 'object'),
    base_object_class: nullableText(string),
    val: json,
  },
  optional: {
    deleted_at: nullable(instant),
    leaf_object_class: nullableText(string),
    wb_user_id: nullableText(string),
    size_bytes: nullable(int64),
    tags: nullable(arrayOf(string)),
    aliases: nullable(arrayOf(string)),
  },
})

export interface ObjectJsonOptions {
  readonly metadata_only: boolean
  readonly include_storage_size?: boolean
  readonly include_tags_and_aliases: boolean
}

/** Serialises a version and inserts its stored JSON content without parsing it. */
export const objectJson = (projectId: string, version: StoredVersion, options: ObjectJsonOptions): string => {
  const { tags, aliases, is_latest } = version
  const members = {
    project_id: projectId,
    object_id: version.object_id,
    created_at: version.created_at,
    deleted_at: version.deleted_at,
    digest: version.digest,
    version_index: version.version_index,
    is_latest: is_latest ? 1 : 0,
    kind: version.kind,
    base_object_class: version.base_object_class,
    leaf_object_class: version.leaf_object_class,
    wb_user_id: version.wb_user_id,
    ...(options.include_storage_size === true ? { size_bytes: version.size_bytes } : {}),
    ...(options.include_tags_and_aliases
      ? { tags, aliases: is_latest ? [...aliases, 'latest'] : aliases }
      : {}),
  }
  return `${JSON.stringify(members).slice(0, -1)},"val":${version.val ?? '{}'}}`
}

const objectCreate = closed('ObjectCreateRequest', {
  required: {
    obj: open('ObjectToCreate', {
      required: { project_id: projectId, object_id: objectId, val: json },
      optional: {
        wb_user_id: nullable(string),
        /** The older name of `builtin_object_class`. */
        set_base_object_class: nullableText(string),
        builtin_object_class: nullableText(string),
        expected_digest: nullable(string),
      },
    }),
  },
})

/** Publishing the same content under the same name creates no new version. */
export const createObject = (
  services: Pick<Services, keyof Ports | 'access' | 'reading' | 'throttle' | 'scoringTools'>,
): AnyRoute => {
  const completed = builtinObject(services.scoringTools)
  return writeProject(services, {
    method: 'post',
    path: '/obj/create',
    summary: 'Create a version of an object.',
    body: objectCreate,
    errors: ['conflict'],
    response: open('ObjectCreateResponse', { required: { digest: string, object_id: string } }),
    project: ({ body }) => body.obj.project_id,
    handle: async ({ body: { obj } }) => {
      const { project_id, object_id, expected_digest } = obj
      const val = completed(obj.val, obj.builtin_object_class ?? obj.set_base_object_class)
      const digest = await contentDigestInSteps(services.sha256, val)
      if (expected_digest !== null && expected_digest !== digest)
        throw new Failure(
          'conflict',
          `The digest of the content is ${digest}, which differs from the expected digest.`,
        )
      return async (cause) => {
        const { position } = await publishObject(services)(project_id, object_id, val, cause, digest)
        return { body: { digest, object_id }, position }
      }
    },
  })
}

const off = withDefault(boolean, false, true)

const objectRead = closed('ObjectReadRequest', {
  required: { project_id: projectId, object_id: objectId, digest: string },
  optional: { metadata_only: off, include_tags_and_aliases: off, wb_user_id: nullable(string) },
})

/** `digest` may be a digest, `latest`, `v` with a number, or an alias. */
export const readObject = (
  services: Pick<Services, 'eventStore' | 'blobs' | 'access' | 'reading'>,
): AnyRoute => {
  const readVersion = versionsFromLog(services)
  return readProject(services, {
    method: 'post',
    path: '/obj/read',
    summary: 'Read a version of an object by digest, latest, v<number> or alias.',
    body: objectRead,
    response: open('ObjectReadResponse', { required: { obj: objectSchema } }),
    project: inBody,
    handle: ({ body, project: projectId, headers }) => {
      const { object_id: objectId, digest: version, metadata_only } = body
      const read = async (position: Position) => {
        const named = { projectId, objectId, version, position }
        const found = await readVersion({ ...named, withVal: !metadata_only })
        if (found === undefined) throw new Failure('not-found', 'Object version not found.')
        requireNotDeleted(found)
        const text = `{"obj":${objectJson(projectId, found, body)}}`
        return { body: text, type: 'application/json; charset=utf-8' }
      }
      return { waitFor: () => services.reading.logPosition(readConditionsIn(headers)), read }
    },
  })
}

const objectDelete = closed('ObjectDeleteRequest', {
  required: { project_id: projectId, object_id: objectId },
  optional: { digests: nullable(arrayOf(string, 1)), wb_user_id: nullable(string) },
})

/** The limit of the original servers. */
const MAX_DIGESTS = 100

/** Versions are named by digest, `latest`, `v` with a number, or alias; none means all. */
export const deleteObject = (
  services: Pick<Services, 'eventStore' | 'clock' | 'ids' | 'access' | 'reading'>,
): AnyRoute =>
  changeProject(services, {
    method: 'post',
    path: '/obj/delete',
    summary:
      'Delete some or all versions of an object. If a given version does not exist, nothing is deleted.',
    body: objectDelete,
    response: open('ObjectDeleteResponse', { required: { num_deleted: int64 } }),
    project: inBody,
    handle: ({ body: { project_id, object_id, digests }, principal }) => {
      if (digests !== null && digests.length > MAX_DIGESTS)
        throw new Failure('bad-request', `At most ${MAX_DIGESTS} digests per request.`)
      const of = { project_id, object_id, versions: digests, wb_user_id: principal.userId }
      return writing(deleteVersions(services, of), deletedVersions)
    },
  })
