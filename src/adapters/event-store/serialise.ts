import type { NewEvent } from '../../kernel/ports/event-store.js'
import { EventTooLarge, InvalidAppend, MAX_APPEND_BYTES } from '../../kernel/ports/event-store-errors.js'
import { isJsonObject } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'

export interface SerialisedEvent {
  readonly id: string
  readonly type: string
  readonly data: string
  readonly metadata: string
  readonly seal?: Uint8Array | undefined
}

export interface SerialisedAppend {
  readonly events: readonly SerialisedEvent[]
  /** UTF-8 bytes of all data and metadata. */
  readonly bytes: number
}

const toJson = (value: unknown, part: string, type: string): string => {
  try {
    // `toJSON` may answer undefined, whatever the types say.
    const json = isJsonObject(value) && (jsonText(value) as string | undefined)
    if (json) return json
  } catch (cause) {
    throw new InvalidAppend(`${part} of ${type} cannot be serialized as JSON`, { cause })
  }
  throw new InvalidAppend(`${part} of ${type} is not a JSON object`)
}

// Lone surrogates inside data are escaped by JSON; a name that has them would be stored as another name.
const requireWellFormed = (...names: readonly string[]) => {
  for (const name of names) if (!name.isWellFormed()) throw new InvalidAppend('a name has lone surrogates')
}

let last: { readonly metadata: unknown; readonly json: string } | undefined

/** Events of one request share their metadata, and so its text. */
const metadataJson = (metadata: NewEvent['metadata'], type: string): string => {
  if (last?.metadata !== metadata) last = { metadata, json: toJson(metadata, 'the metadata', type) }
  return last.json
}

const serialiseEvent = ({ id, type, data, metadata, seal }: NewEvent): SerialisedEvent => {
  requireWellFormed(id, type)
  return { id, type, data: toJson(data, 'the data', type), metadata: metadataJson(metadata, type), seal }
}

/**
 * The events as they are stored.
 *
 * @throws InvalidAppend for no events, an id given twice, or anything JSON cannot hold
 * @throws EventTooLarge over MAX_APPEND_BYTES
 */
export const serialise = (stream: string, events: readonly NewEvent[]): SerialisedAppend => {
  if (events.length === 0) throw new InvalidAppend('an append needs at least one event')
  requireWellFormed(stream)
  if (events.length > 1 && new Set(events.map((event) => event.id)).size < events.length)
    throw new InvalidAppend('duplicate event id in an append')
  const serialised = events.map(serialiseEvent)
  let bytes = 0
  for (const { data, metadata } of serialised) bytes += Buffer.byteLength(data) + Buffer.byteLength(metadata)
  if (bytes > MAX_APPEND_BYTES)
    throw new EventTooLarge(`an append of ${bytes} bytes exceeds the limit of ${MAX_APPEND_BYTES}`)
  return { events: serialised, bytes }
}
