import { nullable, nullableText } from '../../domain/codec/containers.js'
import { json, string } from '../../domain/codec/leaves.js'
import { closed, open } from '../../domain/codec/struct.js'
import { projectId } from '../../domain/ids.js'
import { canonicalJson } from '../../domain/json/canonical.js'
import { objectId } from '../../domain/object/events.js'
import { weaveDigest } from '../../domain/weave-digest.js'
import { Failure } from '../failure.js'
import type { AnyRoute } from '../route.js'
import { writeProject } from '../route-kinds.js'
import type { Objects } from './objects.js'
import { publishObject } from './publish.js'

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
export const createObject = (objects: Objects): AnyRoute =>
  writeProject(objects, {
    method: 'post',
    path: '/obj/create',
    summary: 'Create a version of an object.',
    body: objectCreate,
    errors: ['conflict'],
    response: open('ObjectCreateResponse', { required: { digest: string, object_id: string } }),
    project: ({ body }) => body.obj.project_id,
    handle: ({ body: { obj } }) => {
      const { ports } = objects
      const { project_id, object_id, val, expected_digest } = obj
      const digest = weaveDigest(ports.sha256(canonicalJson(val)))
      if (expected_digest !== null && expected_digest !== digest)
        throw new Failure(
          'conflict',
          `The digest of the content is ${digest}, which differs from the expected digest.`,
        )
      return async (cause) => {
        const baseClass = obj.builtin_object_class ?? obj.set_base_object_class
        const { position } = await publishObject(ports)(project_id, object_id, val, cause, baseClass)
        return { body: { digest, object_id }, position }
      }
    },
  })
