import { classesOf } from '../../domain/object/classes.js'
import { objectDecider } from '../../domain/object/decider.js'
import { objectId, objectStream } from '../../domain/object/events.js'
import { nullable } from '../../domain/codec/containers.js'
import { json, string } from '../../domain/codec/leaves.js'
import { closed, open } from '../../domain/codec/struct.js'
import { utf8Bytes } from '../../domain/codec/text.js'
import { execute } from '../../domain/execute.js'
import { projectId } from '../../domain/ids.js'
import { canonicalJson } from '../../domain/json/canonical.js'
import type { Json } from '../../domain/json/json.js'
import type { Ports } from '../../domain/ports/ports.js'
import { weaveDigest } from '../../domain/weave-digest.js'
import { writesProject } from '../conduct.js'
import { requireWriting, type Teams } from '../projects/access.js'
import type { Reading } from '../reading.js'
import { route, type AnyRoute } from '../route.js'

const objectCreate = closed('ObjectCreateRequest', {
  required: {
    obj: open('ObjectToCreate', {
      required: { project_id: projectId, object_id: objectId, val: json },
      optional: { wb_user_id: nullable(string) },
    }),
  },
})

export interface Objects {
  readonly ports: Pick<Ports, 'eventStore' | 'blobs' | 'ids' | 'sha256'>
  readonly teams: Teams
  readonly reading: Reading
}

/** `/obj/create`: the same content under the same name is the same version (facts: tracing API 6.4). */
export const objectRoutes = ({ ports, teams, reading }: Objects): readonly AnyRoute[] => [
  route({
    method: 'post',
    path: '/obj/create',
    summary: 'Publish a version of an object.',
    body: objectCreate,
    ...writesProject,
    answer: open('ObjectCreateResponse', { required: { digest: string, object_id: string } }),
    handle: async ({ body: { obj }, principal, cause }) => {
      const { project_id, object_id, val } = obj
      await requireWriting(teams, principal, project_id, cause)
      const canonical = canonicalJson(val)
      const digest = weaveDigest(ports.sha256(canonical))
      const content = {
        project_id,
        object_id,
        digest,
        ...classesOf(val),
        ...(await placed(ports, val, canonical)),
        wb_user_id: principal.userId,
      }
      const stream = objectStream(project_id, object_id)
      const { position } = await execute(ports)(
        objectDecider,
        stream,
        [{ type: 'PublishObject', content }],
        cause,
      )
      return { body: { digest, object_id }, position: reading.acknowledged(project_id, position) }
    },
  }),
]

const MAX_INLINE_BYTES = 256 * 1024

/** A large value lies in the blob store, durably before the event that names it. */
const placed = async ({ blobs }: Pick<Ports, 'blobs'>, val: Json, canonical: string) => {
  if (utf8Bytes(canonical) <= MAX_INLINE_BYTES) return { val, val_blob: null }
  const bytes = Buffer.from(JSON.stringify(val))
  return { val: null, val_blob: { digest: await blobs.put(bytes), size: bytes.length } }
}
