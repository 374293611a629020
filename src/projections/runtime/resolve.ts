import { spilledField } from '../../domain/spill/fields.js'
import { isJsonObject, type Json } from '../../domain/json/json.js'
import type { BlobStore } from '../../domain/ports/blobs.js'
import type { RecordedEvent } from '../../domain/ports/event-store.js'
import type { ProjectedEvent } from '../projection.js'
import { NotProjectable } from './not-projectable.js'

/**
 * The event with its spilled fields read back from the blob store.
 *
 * @throws NotProjectable when a blob is gone or is not what a field can be; a failure to read is the store's own error
 */
export const resolved = async (blobs: BlobStore, event: RecordedEvent): Promise<ProjectedEvent> => {
  const { spilled } = event.data
  if (!isJsonObject(spilled) || Object.keys(spilled).length === 0) return event
  const fields = await Promise.all(
    Object.entries(spilled).map(async ([field, place]) => {
      if (!spilledField.is(place)) throw new NotProjectable(`spilled field ${field} names no blob`)
      const content = await blobs.get(place.digest)
      if (content === undefined) throw new NotProjectable(`blob ${place.digest} of field ${field} is missing`)
      return [field, parsed(content, place.digest)] as const
    }),
  )
  return { ...event, data: { ...event.data, ...Object.fromEntries(fields) } }
}

/** The parser's own message would quote the payload. */
const parsed = (content: Uint8Array, digest: string): Json => {
  try {
    return JSON.parse(Buffer.from(content).toString('utf8')) as Json
  } catch (cause) {
    throw new NotProjectable(`blob ${digest} is not JSON`, { cause })
  }
}
