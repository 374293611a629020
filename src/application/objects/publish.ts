import { instantOf } from '../../kernel/codec/instant.js'
import type { Cause } from '../../kernel/event.js'
import type { Json } from '../../kernel/json/json.js'
import { classesOf, kindOf } from '../../domain/objects/classes.js'
import { objectDecider } from '../../domain/objects/decider.js'
import type { DeleteVersions } from '../../domain/objects/commands.js'
import { objectStream, type ObjectEvent } from '../../domain/objects/events.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { spill } from '../../kernel/spill/spill.js'
import { contentDigestInSteps } from '../../domain/objects/weave-digest.js'
import { commandsOf, type ExecuteResult } from '../../kernel/execute.js'

export interface Published {
  readonly digest: string
  readonly version_index: number
  readonly position: Position | undefined
}

export const writeObject = commandsOf(objectDecider, (command) => {
  const { project_id, object_id } = command.type === 'PublishObject' ? command.content : command
  return objectStream(project_id, object_id)
})

/** Deletes some or all versions of an object. */
export const deleteVersions = (
  ports: Pick<Ports, 'eventStore' | 'ids' | 'clock'>,
  of: Omit<DeleteVersions, 'type' | 'deleted_at'>,
) => writeObject(ports, { type: 'DeleteVersions', ...of, deleted_at: instantOf(ports.clock.now()) })

export const deletedVersions = ({ events }: Pick<ExecuteResult<unknown, ObjectEvent>, 'events'>) => ({
  num_deleted: events.filter(({ type }) => type === 'ObjectDeleted').length,
})

/** Publishes a version of an object; the same content under the same name is the same version. `knownDigest` is its digest. */
export const publishObject =
  (ports: Pick<Ports, 'eventStore' | 'blobs' | 'ids' | 'sha256' | 'clock'>) =>
  async (
    project_id: string,
    object_id: string,
    val: Json,
    cause: Cause,
    knownDigest?: string,
  ): Promise<Published> => {
    const digest = knownDigest ?? (await contentDigestInSteps(ports.sha256, val))
    const content = {
      project_id,
      object_id,
      digest,
      kind: kindOf(val),
      ...classesOf(val),
      val,
      created_at: instantOf(ports.clock.now()),
      spilled: {},
      wb_user_id: cause.actor,
    }
    const command = { type: 'PublishObject', content: await spill(ports)(content, ['val']) } as const
    const { state, readableAt } = await writeObject(ports, command)(cause)
    const version_index = state.versions.findIndex((version) => version.digest === digest)
    return { digest, version_index, position: readableAt }
  }
