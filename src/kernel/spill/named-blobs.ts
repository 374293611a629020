import { isJsonObject, type Json } from '../json/json.js'
import type { RecordedEvent } from '../ports/event-store.js'

const digestIn = (place: Json | undefined): readonly string[] =>
  isJsonObject(place) && typeof place['digest'] === 'string' ? [place['digest']] : []

/** Digests of all blobs that an event refers to: spilled fields, file content, a refused element. */
export const blobsNamedBy = ({ type, data }: Pick<RecordedEvent, 'type' | 'data'>): readonly string[] => [
  ...(isJsonObject(data['spilled']) ? Object.values(data['spilled']).flatMap(digestIn) : []),
  ...digestIn(data['raw_blob']),
  ...(type === 'FileStored' && typeof data['blob'] === 'string' ? [data['blob']] : []),
]
