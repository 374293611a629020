import { arrayOf, nullable } from '../../domain/codec/containers.js'
import { instantOf } from '../../domain/codec/instant.js'
import { int64, string } from '../../domain/codec/leaves.js'
import { closed, open } from '../../domain/codec/struct.js'
import { execute } from '../../runtime/execute.js'
import { projectId } from '../../domain/ids.js'
import { objectDecider } from '../../domain/object/decider.js'
import { objectId, objectStream } from '../../domain/object/events.js'
import { inBody } from '../authorization.js'
import { Failure } from '../failure.js'
import type { AnyRoute } from '../route.js'
import { changeProject } from '../route-kinds.js'
import { writing } from '../run.js'
import type { Objects } from './objects.js'

const objectDelete = closed('ObjectDeleteRequest', {
  required: { project_id: projectId, object_id: objectId },
  optional: { digests: nullable(arrayOf(string, 1)), wb_user_id: nullable(string) },
})

/** The limit of the original servers. */
const MAX_DIGESTS = 100

/** Versions are named by digest, `latest`, `v` with a number, or alias; none means all. */
export const deleteObject = (objects: Objects): AnyRoute =>
  changeProject(objects, {
    method: 'post',
    path: '/obj/delete',
    summary:
      'Delete some or all versions of an object. If a given version does not exist, nothing is deleted.',
    body: objectDelete,
    response: open('ObjectDeleteResponse', { required: { num_deleted: int64 } }),
    project: inBody,
    handle: ({ body: { project_id, object_id, digests }, principal }) => {
      const { ports } = objects
      if (digests !== null && digests.length > MAX_DIGESTS)
        throw new Failure('bad-request', `At most ${MAX_DIGESTS} digests per request.`)
      const command = {
        type: 'DeleteVersions',
        project_id,
        object_id,
        versions: digests,
        deleted_at: instantOf(ports.clock.now()),
        wb_user_id: principal.userId,
      } as const
      const stream = objectStream(project_id, object_id)
      return writing((cause) => execute(ports)(objectDecider, stream, [command], cause), {
        respond: ({ events }) => ({
          body: { num_deleted: events.filter(({ type }) => type === 'ObjectDeleted').length },
        }),
      })
    },
  })
