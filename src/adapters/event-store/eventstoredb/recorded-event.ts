import { rememberDigits } from '../../../kernel/json/digits.js'
import { isJsonObject, type Json, type JsonObject } from '../../../kernel/json/json.js'
import { parseJson } from '../../../kernel/json/parse.js'
import type { EventMetadata, Position, RecordedEvent } from '../../../kernel/ports/event-store.js'
import { StoreUnavailable } from '../../../kernel/ports/event-store-errors.js'
import { unreadableEvent } from '../../../kernel/unreadable-event.js'
import { requireKnownSchema } from '../known-schema.js'
import type { WireEvent } from './read-response.js'
import { unsealed } from './sealed-metadata.js'

/** Names that begin so belong to the server: statistics, metadata of streams, links. */
export const isSystemName = (name: string): boolean => name.startsWith('$')

/** Servers before 22.6 give this with the events of a stream. */
const NO_POSITION = 2n ** 64n - 1n

export const positionOf = ({ position }: WireEvent): Position => {
  if (position >= NO_POSITION)
    throw new StoreUnavailable(
      'the EventStoreDB is too old: it does not return positions with the events of a stream',
    )
  return position
}

const TICKS_PER_MS = 10_000n

/** What the server notes of an event, which is known also where the event itself cannot be read. */
export const placeOf = (event: WireEvent) => ({
  id: event.id,
  type: event.type,
  stream: event.stream,
  revision: event.revision,
  position: positionOf(event),
  recordedAt: new Date(Number(BigInt(event.created) / TICKS_PER_MS)),
})

/**
 * An event that this program wrote, perhaps unreadable; undefined for one of the server's own, and for one that another
 * program wrote into the same server: it lacks our metadata.
 *
 * @throws NewerEvents
 */
export const ourEvent = (event: WireEvent, withSeal = false): RecordedEvent | undefined => {
  if (event.contentType !== 'application/json' || isSystemName(event.type)) return undefined
  const { text, seal } = unsealed(event.metadata.toString())
  const metadata = objectIn(text)
  const isOurs = metadata !== undefined && isOurMetadata(metadata)
  if (!isOurs && seal === undefined) return undefined
  const place = placeOf(event)
  if (isSystemName(place.stream)) return undefined
  if (isOurs) requireKnownSchema(metadata.schemaVersion)
  const dataText = event.data.toString()
  const data = objectIn(dataText)
  const sealed = withSeal && seal !== undefined ? { seal: seal.bytes } : {}
  if (!isOurs || data === undefined || seal?.isOf(dataText) === false)
    return { ...unreadableEvent(place, 'it is not as it was written'), ...sealed }
  return {
    ...place,
    data,
    metadata: withDigitsFrom(metadata, data),
    size: dataText.length + text.length,
    ...sealed,
  }
}

const objectIn = (text: string): JsonObject | undefined => {
  try {
    const value = parseJson(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

const isOurMetadata = (metadata: JsonObject): metadata is EventMetadata =>
  typeof metadata['correlationId'] === 'string' &&
  typeof metadata['causationId'] === 'string' &&
  typeof metadata['actor'] === 'string' &&
  typeof metadata['schemaVersion'] === 'number'

/** Earlier releases wrote the digits of large numbers into the metadata: a list of keys and digits. */
const withDigitsFrom = (given: EventMetadata, data: JsonObject): EventMetadata => {
  if (given['digits'] === undefined) return given
  const { digits, ...metadata } = given
  for (const one of Array.isArray(digits) ? (digits as readonly Json[]) : [])
    if (Array.isArray(one) && Array.isArray(one[0]) && typeof one[1] === 'string')
      restoreDigits(data, one[0].map(String), one[1])
  return metadata
}

const restoreDigits = (data: Json, path: readonly string[], digits: string): void => {
  const key = path.at(-1)
  const holder = path.slice(0, -1).reduce<Json | undefined>(memberOf, data)
  if (key !== undefined && memberOf(holder, key) === Number(digits))
    rememberDigits(holder as object, key, digits)
}

const memberOf = (holder: Json | undefined, key: string): Json | undefined =>
  (isJsonObject(holder) || Array.isArray(holder)) && Object.hasOwn(holder, key)
    ? (holder as Readonly<Record<string, Json>>)[key]
    : undefined
