import type streams from '@eventstore/db-client/generated/streams_pb.js'
import { backoff } from '../../../kernel/backoff.js'
import type { EventStore, Position, RecordedEvent } from '../../../kernel/ports/event-store.js'
import { StoreUnavailable, StreamUnreadable } from '../../../kernel/ports/event-store-errors.js'
import type { HealthReports } from '../../../kernel/ports/health.js'
import { requireReadable, unreadableEvent } from '../../../kernel/unreadable-event.js'
import type { SharedConnection } from './connection.js'
import { deletedStream, isRefused, isStreamDeleted, readFailure } from './errors.js'
import type { WireEvent } from './read-response.js'
import { ourEvent, placeOf, positionOf } from './recorded-event.js'
import { logRequest, streamRequest } from './requests.js'
import { responsesOf } from './responses.js'
import { slots } from './slots.js'
import { BACKOFF, TimedOut, within } from './waiting.js'

/** The longest wait for a response. */
const SILENCE_MS = 5000
/** A server says nothing while it searches the log for the first event that passes a filter. */
const SEARCH_MS = 600_000
/** How often in a row a read may fail before its error is thrown: it continues where it broke. */
const MAX_FAILURES = 4
/** A silent server took that long already: two silences in a row are enough. */
const failuresIn = (error: unknown): number => (error instanceof TimedOut ? 2 : 1)
/** The first page of a read is short: a reader that wants only the first events need not cancel the call. */
export const SHORT_PAGE = 100
const LONG_PAGE = 4000
/** More events than a server passes over in a filtered subscription before it sends a checkpoint (32). */
const CHECKPOINT_EVENTS = 100

export interface Reads extends Pick<EventStore, 'readStream' | 'readAll' | 'readBackwards'> {
  /** The position of the last event, also of one that is not ours; 0 for an empty log. */
  readonly head: () => Promise<Position>
  /** @throws NewerEvents if a newer release wrote one of the last events */
  readonly requireKnownEvents: () => Promise<void>
  /** Our event, perhaps unreadable; undefined for one that is not ours. */
  readonly decode: (event: WireEvent) => RecordedEvent | undefined
  /** The next events after a position, including those of other programs. */
  readonly pageAfter: (after: Position) => Promise<readonly WireEvent[]>
  /** The end of the log, and a position up to it that a subscription to these types is sure to report. */
  readonly goalAfter: (after: Position, types: ReadonlySet<string> | undefined) => Promise<Goal>
}

export interface Goal {
  /** The subscription delivers no event between it and the end. */
  readonly position: Position
  readonly end: Position
}

class StreamNotFound extends Error {
  override readonly name = 'StreamNotFound'
}

const QUEUE = { mostWaitingBytes: 32 * 1024 * 1024, waitMs: 20_000 }

/** What the reads are made of. */
interface Source {
  /** One try. */
  readonly events: (request: streams.ReadReq) => AsyncGenerator<WireEvent>
  /** Opens a read again that failed, some times. */
  readonly resumed: <A>(open: () => AsyncIterable<A>) => AsyncGenerator<A>
  readonly decode: (event: WireEvent, withSeal?: boolean) => RecordedEvent | undefined
}

/**
 * Reads that fail continue where they broke, some times; after that they throw StoreUnavailable. At most `atOnce` wait
 * for their first response; the others queue, and their time begins later.
 */
export const reading = (
  connection: SharedConnection,
  closed: AbortSignal,
  atOnce: number,
  health: HealthReports,
): Reads => {
  const decode = (event: WireEvent, withSeal = false): RecordedEvent | undefined => {
    const recorded = ourEvent(event, withSeal)
    if (recorded?.unreadable !== undefined) health.unreadable?.(recorded)
    return recorded
  }
  const source: Source = {
    events: requesting(connection, closed, atOnce),
    resumed: resuming(closed, health),
    decode,
  }
  return {
    readStream: streamReads(source),
    readAll: logReads(source),
    readBackwards: backwardReads(source),
    decode,
    ...lastEvents(source),
    pageAfter: async (after) => {
      let page: WireEvent[] = []
      const next = () => {
        page = []
        return source.events(logRequest({ from: after, maxCount: SHORT_PAGE }))
      }
      for await (const event of source.resumed(next)) page.push(event)
      return page
    },
  }
}

const requesting = (connection: SharedConnection, closed: AbortSignal, atOnce: number): Source['events'] => {
  const { acquire } = slots({ atOnce, ...QUEUE })
  return async function* (request) {
    const options = request.getOptions()
    const isShort = Number(options?.getCount()) <= SHORT_PAGE
    const silenceMs = options?.hasFilter() === true ? SEARCH_MS : SILENCE_MS
    const release = await acquire()
    try {
      const channel = await within(connection.channel(), SILENCE_MS)
      try {
        const receiving = { signal: closed, silenceMs, isShort }
        for await (const responses of responsesOf(channel.read(request), receiving)) {
          // A reader may be slow, or read another stream meanwhile.
          release()
          connection.onResponse()
          for (const { event, isStreamNotFound } of responses) {
            if (isStreamNotFound) throw new StreamNotFound()
            if (event !== undefined) yield event
          }
        }
      } catch (error) {
        channel.onFailure(error)
        throw error
      }
    } catch (error) {
      if (error instanceof TimedOut) connection.onSilence()
      throw error
    } finally {
      release()
    }
  }
}

const resuming = (closed: AbortSignal, health: HealthReports): Source['resumed'] =>
  async function* (open) {
    for (let failures = 0; ;) {
      try {
        requireOpen(closed)
        for await (const item of open()) {
          failures = 0
          health.report('event-log-reads', null)
          yield item
        }
        requireOpen(closed)
        health.report('event-log-reads', null)
        return
      } catch (error) {
        if (error instanceof StreamNotFound) {
          health.report('event-log-reads', null)
          return
        }
        failures += failuresIn(error)
        const failure = readFailure(error)
        if (failure === error || closed.aborted || isRefused(error) || failures >= MAX_FAILURES) {
          if (!closed.aborted) health.report('event-log-reads', failure)
          throw failure
        }
        await backoff(failures, { ...BACKOFF, signal: closed })
      }
    }
  }

const streamReads =
  ({ events, resumed, decode }: Source): Reads['readStream'] =>
  (stream, { from, backwards = false, limit = Infinity, withUnreadable = false, withSeals } = {}) => {
    const step = backwards ? -1n : 1n
    let next = from ?? (backwards ? undefined : 0n)
    let left = limit
    async function* pages(): AsyncGenerator<RecordedEvent> {
      for (let page = SHORT_PAGE; left > 0 && !(next !== undefined && next < 0n); page = LONG_PAGE) {
        const maxCount = Math.min(left, page)
        let count = 0
        for await (const event of events(streamRequest(stream, next, backwards, maxCount))) {
          const recorded = decode(event, withSeals) ?? foreignEvent(event)
          if (!withUnreadable) requireReadable(recorded)
          const { revision } = recorded
          const isFirst = count === 0 && backwards
          if (next !== undefined && revision !== next && !isFirst) throw truncated(stream, revision)
          next = revision + step
          count += 1
          left -= 1
          yield recorded
        }
        if (count === maxCount) continue
        if (backwards && next !== undefined && next >= 0n) throw truncated(stream, next + 1n)
        return
      }
    }
    return resumed(async function* () {
      try {
        yield* pages()
      } catch (error) {
        throw isStreamDeleted(error) ? deletedStream(stream) : error
      }
    })
  }

const logReads =
  ({ events, resumed, decode }: Source): Reads['readAll'] =>
  ({ after = 0n, limit = Infinity, withSeals = false } = {}) => {
    let last = after
    let left = limit
    return resumed(async function* () {
      for (let page = SHORT_PAGE; left > 0; page = LONG_PAGE) {
        // A read begins with the event at the position it is given.
        const maxCount = Math.min(left + 1, page)
        let count = 0
        for await (const event of events(logRequest({ from: last, maxCount }))) {
          count += 1
          const position = positionOf(event)
          if (position <= last) continue
          const recorded = decode(event, withSeals)
          last = position
          if (recorded === undefined) continue
          left -= 1
          yield recorded
          if (left <= 0) return
        }
        if (count < maxCount) return
      }
    })
  }

const backwardReads =
  ({ events, resumed, decode }: Source): Reads['readBackwards'] =>
  (types, { before: start, withUnreadable = false, withSeals = false } = {}) => {
    let before = start
    return resumed(async function* () {
      // From position 0, the server would read from the end.
      for (let page = SHORT_PAGE; before !== 0n; page = LONG_PAGE) {
        const request = logRequest({ from: before, types, backwards: true, maxCount: page })
        let count = 0
        for await (const event of events(request)) {
          count += 1
          before = positionOf(event)
          const recorded = decode(event, withSeals)
          if (recorded !== undefined && (withUnreadable || recorded.unreadable === undefined)) yield recorded
        }
        if (count < page) return
      }
    })
  }

const lastEvents = ({
  events,
  resumed,
}: Source): Pick<Reads, 'head' | 'requireKnownEvents' | 'goalAfter'> => {
  const newest = (maxCount: number) => events(logRequest({ backwards: true, maxCount }))

  const firstOf = async <A>(open: () => AsyncIterable<A>): Promise<A | undefined> => {
    for await (const item of resumed(open)) return item
    return undefined
  }

  return {
    head: async () => {
      const last = await firstOf(() => newest(1))
      return last === undefined ? 0n : positionOf(last)
    },

    requireKnownEvents: async () => {
      for await (const event of resumed(() => newest(SHORT_PAGE))) ourEvent(event)
    },

    goalAfter: async (after, types) => {
      const goal = await firstOf(async function* () {
        let end: Position | undefined
        let left = CHECKPOINT_EVENTS
        for await (const event of newest(left)) {
          const position = positionOf(event)
          if (position <= after) break
          end ??= position
          left -= 1
          if (left > 0 && types?.has(event.type) === false) continue
          yield { position, end }
          return
        }
        yield { position: after, end: end ?? after }
      })
      return goal ?? { position: after, end: after }
    },
  }
}

export const requireOpen = (closed: AbortSignal): void => {
  if (closed.aborted) throw new StoreUnavailable('the event store is closed')
}

const foreignEvent = (event: WireEvent): RecordedEvent =>
  unreadableEvent(placeOf(event), `Tallytree did not write its event ${event.revision}`)

const truncated = (stream: string, revision: bigint): StreamUnreadable =>
  new StreamUnreadable(
    stream,
    `its events before ${revision} were removed in the EventStoreDB, by a deletion or by $maxCount, $maxAge or $tb`,
  )
