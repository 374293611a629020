import type { SerialisedAppend } from '../serialise.js'

/** A group holds up the event loop while it is written: these bound for how long. */
const GROUP_EVENTS = 512
const GROUP_BYTES = 1_048_576

/** How many of the queued appends make the next group: at least one, however large. */
export const sizeOfGroup = (queued: readonly SerialisedAppend[]): number => {
  let events = 0
  let bytes = 0
  const end = queued.findIndex((append) => {
    events += append.events.length
    bytes += append.bytes
    return events > GROUP_EVENTS || bytes > GROUP_BYTES
  })
  return end === -1 ? queued.length : Math.max(end, 1)
}
