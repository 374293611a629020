import type { EventStore, Position } from '../../kernel/ports/event-store.js'

/** The least time between two questions for the end of the log. */
const ASK_EVERY_MS = 250
/** Older ends of the log than this many are enough to know how long one is unread. */
const MAX_KNOWN = 1000

interface KnownEnd {
  position: Position
  readonly at: number
}

/** How long the log has had an event after a position, in ms: 0 if it is not known to have one. */
export type UnreadMs = (read: Position) => number

/**
 * A subscription that falls behind delivers old events, so its own events do not show how far. Asks for the end of the log
 * in the background, at most every 250 ms and only while it is called.
 */
export const unreadSince = ({ head }: Pick<EventStore, 'head'>): UnreadMs => {
  let ends: KnownEnd[] = []
  let askedAt = -Infinity
  let isAsking = false

  const note = (position: Position) => {
    const last = ends.at(-1)
    if (last !== undefined && (position <= last.position || ends.length >= MAX_KNOWN))
      last.position = position > last.position ? position : last.position
    else ends.push({ position, at: performance.now() })
  }
  const ask = () => {
    if (isAsking || performance.now() - askedAt < ASK_EVERY_MS) return
    isAsking = true
    askedAt = performance.now()
    head()
      // An outage is reported by what reads and appends.
      .then(note, () => undefined)
      .finally(() => (isAsking = false))
  }

  return (read) => {
    ask()
    if (ends[0] !== undefined && ends[0].position <= read)
      ends = ends.filter(({ position }) => position > read)
    return ends[0] === undefined ? 0 : performance.now() - ends[0].at
  }
}
