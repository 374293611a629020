import { isJsonObject, type JsonObject } from '../../domain/json/json.js'
import type { SpilledFields } from '../../domain/call/payload.js'
import type { BlobStore } from '../../domain/ports/blobs.js'
import type { RecordedEvent } from '../../domain/ports/event-store.js'
import type { ProjectedEvent } from '../projection.js'

/** The event with its spilled fields read back from the blob store. */
export const resolved = async (blobs: BlobStore, event: RecordedEvent): Promise<ProjectedEvent> => {
  const { spilled } = event.data
  if (!isJsonObject(spilled) || Object.keys(spilled).length === 0) return event
  const fields = await Promise.all(
    Object.entries(spilled as SpilledFields).map(async ([field, { digest }]) => {
      const content = await blobs.get(digest)
      if (content === undefined) throw new Error(`blob ${digest} of field ${field} is missing`)
      return [field, JSON.parse(Buffer.from(content).toString('utf8'))] as const
    }),
  )
  return { ...event, data: { ...event.data, ...(Object.fromEntries(fields) as JsonObject) } }
}
