import type { EventStore, Position } from '../../ports/event-store.js'
import { automationStream } from '../events.js'
import { versionAfter, type AutomationVersion } from '../state.js'

/** What an automation has been, read from its stream as far as it is asked for. */
export interface VersionsAlong {
  /** The version in force for an event at a position: of an automation's own event, the one before it. */
  readonly at: (position: Position) => Promise<AutomationVersion | undefined>
  /** The last one that there is now; undefined for an automation that never was. */
  readonly newest: () => Promise<AutomationVersion | undefined>
  /** How many events were read so far. */
  readonly read: () => number
}

/** A place between two events of the stream, and what the automation is there. */
interface Place {
  readonly version: AutomationVersion | undefined
  /** Of the event before it. */
  readonly since: Position
  readonly next: bigint
  /** Of the event behind it; undefined until that was looked for. */
  until: Position | undefined
}

/** Above every position. */
const END = 1n << 64n
const MOST_PLACES = 64
const MOST_AT_ONCE = 256

/**
 * Follows positions that grow in one reading of the stream. It keeps a few places that are spread over what it has read,
 * so that positions before are found from there: memory does not grow with the number of versions. What is written while
 * it reads may be missed: it is for positions up to a head of the log that was known before.
 */
export const versionsAlong = (eventStore: Pick<EventStore, 'readStream'>, id: string): VersionsAlong => {
  const stream = automationStream(id)
  let places: readonly Place[] = [{ version: undefined, since: -1n, next: 0n, until: undefined }]
  let read = 0

  const keep = (place: Place) => {
    const at = places.findLastIndex(({ since }) => since < place.since) + 1
    if (places[at]?.since === place.since) return
    const all = [...places.slice(0, at), place, ...places.slice(at)]
    places = all.length <= MOST_PLACES ? all : all.filter((one, n) => n % 2 === 0 || one === place)
  }

  const placeOf = async (position: Position): Promise<Place> => {
    let place = places.findLast(({ since }) => since < position) ?? places[0]!
    for (let limit = 2; ; limit = Math.min(2 * limit, MOST_AT_ONCE)) {
      if (place.until !== undefined && position <= place.until) return place
      let found = 0
      for await (const event of eventStore.readStream(stream, { from: place.next, limit })) {
        found += 1
        read += 1
        place.until = event.position
        if (position <= event.position) return place
        const version = versionAfter(place.version, event)
        place = { version, since: event.position, next: event.revision + 1n, until: undefined }
        keep(place)
      }
      if (found < limit) place.until = END
    }
  }

  const at = async (position: Position) => (await placeOf(position)).version
  return { at, newest: () => at(END), read: () => read }
}
