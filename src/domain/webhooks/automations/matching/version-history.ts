import type { EventStore, Position } from '../../../../kernel/ports/event-store.js'
import { automationStream } from '../events.js'
import { versionAfter, type AutomationVersion } from '../state.js'

/** The versions of an automation, read from its stream lazily. */
export interface VersionHistory {
  /** The version in force at a position. For an event of the automation itself, the one before that event. */
  readonly at: (position: Position) => Promise<AutomationVersion | undefined>
  /** The newest version; undefined if the automation never existed. */
  readonly newest: () => Promise<AutomationVersion | undefined>
  /** Number of events read so far. */
  readonly read: () => number
}

/** A gap between two events of the stream, with the version in force there. */
interface Place {
  readonly version: AutomationVersion | undefined
  /** Position of the event before. */
  readonly since: Position
  readonly next: bigint
  /** Position of the event after; undefined until it was read. */
  until: Position | undefined
}

/** Greater than every position. */
const END = 1n << 64n
const MOST_PLACES = 64
const MOST_AT_ONCE = 256

/**
 * Looks up ascending positions in one pass over the stream. It keeps a few checkpoints from which earlier positions
 * are found, so memory does not grow with the number of versions. It may miss events written while it reads: use it
 * for positions up to a known head.
 */
export const versionHistory = (eventStore: Pick<EventStore, 'readStream'>, id: string): VersionHistory => {
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
