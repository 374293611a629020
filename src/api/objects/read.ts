import { nullable, withDefault } from '../../domain/codec/containers.js'
import { boolean, string } from '../../domain/codec/leaves.js'
import { closed, open } from '../../domain/codec/struct.js'
import { projectId } from '../../domain/ids.js'
import { objectId, objectStream } from '../../domain/object/events.js'
import type { Position } from '../../domain/ports/event-store.js'
import { readVersion } from '../../projections/objects/queries.js'
import { inBody } from '../authorization.js'
import { Failure } from '../failure.js'
import type { AnyRoute } from '../route.js'
import { readProject } from '../route-kinds.js'
import { objectJson } from './object-json.js'
import { objectSchema } from './object-schema.js'
import type { Objects } from './objects.js'
import { responseCache } from './response-cache.js'

const off = withDefault(boolean, false, true)

const objectRead = closed('ObjectReadRequest', {
  required: { project_id: projectId, object_id: objectId, digest: string },
  optional: { metadata_only: off, include_tags_and_aliases: off, wb_user_id: nullable(string) },
})

const MAX_KEPT_CHARACTERS = 32 * 1024 * 1024

/**
 * `digest` may be a digest, `latest`, `v` with a number, or an alias. All events of an object are in one stream: a
 * cached response is valid until the stream grows, and a read waits only for the stream's last event.
 */
export const readObject = (objects: Objects): AnyRoute => {
  const { ports, reading } = objects
  const answers = responseCache(MAX_KEPT_CHARACTERS)

  /** The number of events of the object and the position of the last one. */
  const endOf = async (project: string, object: string) => {
    const last = ports.eventStore.readStream(objectStream(project, object), { backwards: true, limit: 1 })
    for await (const { position, revision } of last) return { written: position, events: revision + 1n }
    return { written: 0n, events: 0n }
  }

  return readProject(objects, {
    method: 'post',
    path: '/obj/read',
    summary: 'Read a version of an object by digest, latest, v<number> or alias.',
    body: objectRead,
    response: open('ObjectReadResponse', { required: { obj: objectSchema } }),
    project: inBody,
    handle: async ({ body, project: projectId, headers, reader }) => {
      const { object_id, digest, metadata_only, include_tags_and_aliases } = body
      const { written, events } = await endOf(projectId, object_id)
      const read = async (position: Position): Promise<string> => {
        const key = JSON.stringify([projectId, object_id, metadata_only, include_tags_and_aliases, digest])
        const made = `${reading.generation()} ${written}`
        const known = answers.get(key, made)
        if (known !== undefined && written <= position) return known

        const version = await readVersion(reader)({
          projectId,
          objectId: object_id,
          version: digest,
          position,
          withVal: !metadata_only,
          withLabels: include_tags_and_aliases,
          events,
        })
        if (version === undefined) throw new Failure('not-found', 'Object version not found.')
        const { deleted_at } = version
        if (deleted_at !== null)
          throw new Failure('not-found', `The object version was deleted at ${deleted_at}.`, {
            body: { deleted_at },
          })
        const text = `{"obj":${objectJson(projectId, version, body)}}`
        if (written <= position) answers.put(key, made, text)
        return text
      }
      return {
        waitFor: () => reading.waitForAsOf(projectId, headers, written),
        read: async (position) => ({ body: await read(position), type: 'application/json; charset=utf-8' }),
      }
    },
  })
}
