import { setImmediate } from 'node:timers/promises'
import type { EventStore, Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import type { CommitSignal } from './commit-signal.js'
import { requireReadable, requireRevision } from '../../kernel/unreadable-event.js'

export interface Page {
  readonly events: readonly RecordedEvent[]
  /** Whether these were the last events when the page was read. */
  readonly atEnd: boolean
}

export interface LogPage extends Page {
  /** Position of the last event that was read, wanted or not; absent for none. */
  readonly last: Position | undefined
}

export interface StreamRange {
  /** Inclusive in the direction of reading; from the first event, or backwards from the last, when absent. */
  readonly from: bigint | undefined
  readonly backwards: boolean
  readonly withSeals: boolean
}

/** Where pages come from. A page takes at most `limit` events from the log, and less when they are large. */
export interface Pages {
  /** Leaves out events of other types than `types`. */
  ofLog(after: Position, limit: number, types?: ReadonlySet<string>, withSeals?: boolean): LogPage
  /** The newest events before a position, newest first. Leaves out events of other types than `types`. */
  backwards(
    before: Position | undefined,
    limit: number,
    types?: ReadonlySet<string>,
    withSeals?: boolean,
  ): LogPage
  ofStream(stream: string, range: StreamRange, limit: number): Page
}

const PAGE_EVENTS = 500
/** A reader that wants only the newest events of many types reads few of each. */
const FIRST_PAGE_EVENTS = 100

const pageSize = (left: number) => Math.min(left, PAGE_EVENTS)

/**
 * The reading half of an event store, over pages. Between full pages the event loop gets a turn, so that
 * a long catch-up does not hold up the service. A subscription pages as a reader does and waits only when it
 * was at the end: there is no seam between catching up and live, and no queue that a slow consumer could fill.
 */
export const pagedReads = (
  pages: Pages,
  commits: CommitSignal,
): Pick<EventStore, 'readStream' | 'readAll' | 'readBackwards' | 'subscribeAll'> => ({
  readStream: async function* (stream, options = {}) {
    const { backwards = false, withUnreadable = false, withSeals = false } = options
    let from = options.from
    let left = options.limit ?? Infinity
    while (left > 0) {
      const page = pages.ofStream(stream, { from, backwards, withSeals }, pageSize(left))
      for (const event of page.events) {
        if (!withUnreadable) {
          requireReadable(event)
          if (!backwards) requireRevision(from ?? 0n, event)
        }
        from = event.revision + (backwards ? -1n : 1n)
        yield event
      }
      left -= page.events.length
      if (page.atEnd) return
      await setImmediate()
    }
  },

  readAll: async function* (options = {}) {
    let after = options.after ?? 0n
    let left = options.limit ?? Infinity
    while (left > 0) {
      const page = pages.ofLog(after, pageSize(left), undefined, options.withSeals)
      for (const event of page.events) {
        after = event.position
        yield event
      }
      left -= page.events.length
      if (page.atEnd) return
      await setImmediate()
    }
  },

  readBackwards: async function* (types, { withUnreadable = false, withSeals = false, ...options } = {}) {
    for (let { before } = options, limit = FIRST_PAGE_EVENTS; ; limit = PAGE_EVENTS) {
      const page = pages.backwards(before, limit, types, withSeals)
      for (const event of page.events) if (withUnreadable || event.unreadable === undefined) yield event
      if (page.atEnd) return
      before = page.last
      await setImmediate()
    }
  },

  subscribeAll: async function* ({ after: start = 0n, types, signal } = {}) {
    let after = start
    let saidCaughtUp = false
    const isOver = () => commits.isClosed() || signal?.aborted === true
    while (!isOver()) {
      const seen = commits.count()
      const page = pages.ofLog(after, PAGE_EVENTS, types)
      for (const event of page.events) {
        if (isOver()) return
        after = event.position
        yield { kind: 'event', event }
      }
      if (page.last !== undefined && page.last > after && !isOver()) {
        after = page.last
        yield { kind: 'checkpoint', position: after }
      }
      if (!page.atEnd) {
        await setImmediate()
        continue
      }
      if (!saidCaughtUp && !isOver()) {
        saidCaughtUp = true
        yield { kind: 'caughtUp' }
      }
      await commits.after(seen, signal)
    }
  },
})
