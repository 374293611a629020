import { createHmac, hash, type KeyObject } from 'node:crypto'
import { SALT_BYTES, SEAL_BYTES } from '../../kernel/event-seal.js'
import { jsonText } from '../../kernel/json/text.js'
import type { EventPlace, EventStore, Position, RecordedEvent } from '../../kernel/ports/event-store.js'

export interface EventSeal {
  readonly salt: Buffer
  /** SHA-256(salt ‖ data ‖ 0x0A ‖ metadata). */
  readonly digest: Buffer
}

/** The seal that the log has of an event. */
const storedSeal = ({ seal }: RecordedEvent): EventSeal | undefined => {
  if (seal === undefined) return undefined
  const bytes = Buffer.from(seal)
  return { salt: bytes.subarray(0, SALT_BYTES), digest: bytes.subarray(SALT_BYTES, SEAL_BYTES) }
}

/** Events of earlier releases in an EventStoreDB have no seal, and cannot get one: their salts follow from a key. */
const derivedSeal = (key: KeyObject, { id, stream, data, metadata }: RecordedEvent): EventSeal => {
  const salt = createHmac('sha256', key).update(`${stream}\n${id}`).digest().subarray(0, SALT_BYTES)
  const texts = Buffer.from(`${jsonText(data)}\n${jsonText(metadata)}`)
  return { salt, digest: hash('sha256', Buffer.concat([salt, texts]), 'buffer') }
}

/** Seals of events that were read with them; undefined for an event that has none yet, or is unreadable. */
export const sealsIn = (
  { readPlaces }: Pick<EventStore, 'readPlaces'>,
  key: KeyObject,
): ((event: RecordedEvent) => EventSeal | undefined) => {
  // A store that finds places gives all its events seals.
  const derives = readPlaces === undefined
  return (event) =>
    storedSeal(event) ?? (derives && event.unreadable === undefined ? derivedSeal(key, event) : undefined)
}

export type ReadPlaces = (after: Position, limit: number) => Promise<readonly EventPlace[]>

export const placesIn = (
  eventStore: Pick<EventStore, 'readAll' | 'readPlaces'>,
  key: KeyObject,
): ReadPlaces => {
  const sealOf = sealsIn(eventStore, key)
  return (
    eventStore.readPlaces ??
    (async (after, limit) => {
      const places: EventPlace[] = []
      for await (const event of eventStore.readAll({ after, limit, withSeals: true })) {
        const { id, stream, revision, type, position } = event
        places.push({ id, stream, revision, type, position, digest: sealOf(event)?.digest })
      }
      return places
    })
  )
}
