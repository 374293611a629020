import { isJsonObject, type Json, type JsonObject } from '../json/json.js'
import type { RecordedEvent } from '../ports/event-store.js'

const digestIn = (place: Json | undefined): readonly string[] =>
  isJsonObject(place) && typeof place['digest'] === 'string' ? [place['digest']] : []

const blobIn = (place: Json | undefined): readonly string[] =>
  isJsonObject(place) && typeof place['blob'] === 'string' ? [place['blob']] : []

/** A report of a conflict has a whole start or end. */
const spilledIn = (holder: Json | undefined): readonly string[] =>
  isJsonObject(holder) && isJsonObject(holder['spilled'])
    ? Object.values(holder['spilled']).flatMap(digestIn)
    : []

/** A list of files that is a blob itself. */
const MANIFEST = 'manifest'

/** The fields with the name of a blob. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  FileStored: ['blob'],
  RunFileStored: ['blob'],
  DataFileUploaded: ['blob'],
  TrainingJobCreated: ['input', 'validation'],
  TrajectoriesLogged: ['content'],
}

const namedIn = (type: string, data: JsonObject): readonly string[] =>
  (Object.hasOwn(NAMES, type) ? NAMES[type]! : []).flatMap((field) => {
    const name = data[field]
    return typeof name === 'string' && name !== '' ? [name] : []
  })

/** Digests of all blobs that an event refers to: spilled fields, file content, a refused element. */
export const blobsNamedBy = ({ type, data }: Pick<RecordedEvent, 'type' | 'data'>): readonly string[] => [
  ...[data, data['start'], data['end']].flatMap(spilledIn),
  ...digestIn(data['raw_blob']),
  ...namedIn(type, data),
  ...blobIn(data[MANIFEST]),
]
