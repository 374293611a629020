import { nullable, nullableText } from '../../domain/codec/containers.js'
import { instantOf } from '../../domain/codec/instant.js'
import { json, string } from '../../domain/codec/leaves.js'
import { closed, open } from '../../domain/codec/struct.js'
import { execute } from '../../runtime/execute.js'
import { projectId } from '../../domain/ids.js'
import { canonicalJson } from '../../domain/json/canonical.js'
import { classesOf } from '../../domain/object/classes.js'
import { objectDecider } from '../../domain/object/decider.js'
import { objectId, objectStream } from '../../domain/object/events.js'
import { spill } from '../../domain/spill/spill.js'
import { weaveDigest } from '../../domain/weave-digest.js'
import { Failure } from '../failure.js'
import type { AnyRoute } from '../route.js'
import { writeProject } from '../route-kinds.js'
import { writing } from '../run.js'
import type { Objects } from './objects.js'

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
    handle: async ({ body: { obj }, principal }) => {
      const { ports } = objects
      const { project_id, object_id, val, expected_digest } = obj
      const digest = weaveDigest(ports.sha256(canonicalJson(val)))
      if (expected_digest !== null && expected_digest !== digest)
        throw new Failure(
          'conflict',
          `The digest of the content is ${digest}, which differs from the expected digest.`,
        )
      const content = {
        project_id,
        object_id,
        digest,
        ...classesOf(val, obj.builtin_object_class ?? obj.set_base_object_class),
        val,
        created_at: instantOf(ports.clock.now()),
        spilled: {},
        wb_user_id: principal.userId,
      }
      const command = { type: 'PublishObject', content: await spill(ports)(content, ['val']) } as const
      const stream = objectStream(project_id, object_id)
      return writing((cause) => execute(ports)(objectDecider, stream, [command], cause), {
        respond: () => ({ body: { digest, object_id } }),
      })
    },
  })
