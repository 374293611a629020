import {
  BACKWARDS,
  END,
  FORWARDS,
  START,
  StreamNotFoundError,
  type ResolvedEvent,
  type StreamingRead,
} from '@eventstore/db-client'
import type { EventStore, Position } from '../../../kernel/ports/event-store.js'
import { StoreUnavailable } from '../../../kernel/ports/event-store-errors.js'
import type { HealthReports } from '../../../kernel/ports/health.js'
import { ForeignEvent, mayPass, unavailable } from './failures.js'
import type { SharedClient } from './one-client.js'
import { markers, type ClientStream } from './pulled.js'
import { clientPosition, isSystemName, ourEvent } from './recorded-event.js'
import { slots } from './slots.js'
import { backOff, TimedOut } from './waiting.js'

/** How long a read may say nothing while its events are waited for. */
const SILENCE_MS = 5000
/** How often in a row a read may break before it fails: it is taken up again where it broke. */
const MAX_FAILURES = 4
/** A silent server took that long already: two silences in a row are enough. */
const failuresIn = (error: unknown): number => (error instanceof TimedOut ? 2 : 1)
/** How many events a read asks for at first: who wants only the first ones need not stop it. */
const SHORT = 100
/** More events than a server leaves out, by a filter, before it sends a checkpoint (32). */
const CHECKPOINTED = 100
/** And from then on. */
const LONG = 4000
/** The most events that lie ready here, beside what HTTP/2 has under way. */
const BUFFERED = { highWaterMark: 256 }

export interface Reads extends Pick<EventStore, 'readStream' | 'readAll' | 'readBackwards'> {
  /** The position of our last event after `bound`, else `bound`. */
  readonly lastAfter: (bound: Position) => Promise<Position>
  /** The end of the log, and a position up to it that a subscription to these types is sure to report. */
  readonly goalAfter: (bound: Position, types: ReadonlySet<string> | undefined) => Promise<Goal>
}

export interface Goal {
  /** No event that the subscription delivers is between it and the end. */
  readonly position: Position
  readonly end: Position
}

class CutOff extends Error {
  override readonly name = 'CutOff'
}

const MOST_WAITING_BYTES = 32 * 1024 * 1024
const WAIT_MS = 20_000

/**
 * Reads are taken up where they broke, some times; after that they fail with StoreUnavailable. At most `atOnce` wait for
 * the server's first answer; others wait before the time for their silence begins.
 */
export const reading = (
  shared: SharedClient,
  closed: AbortSignal,
  atOnce: number,
  health: HealthReports,
): Reads => {
  const { acquire } = slots({ atOnce, mostWaitingBytes: MOST_WAITING_BYTES, waitMs: WAIT_MS })
  const events = async function* (open: () => ClientStream): AsyncGenerator<ResolvedEvent> {
    const pulling = { signal: closed, silenceMs: SILENCE_MS }
    // It is freed with the first answer: a reader may be slow, or read another stream meanwhile.
    const release = await acquire()
    const client = shared.current()
    try {
      for await (const item of markers<never>().pull(open(), pulling)) {
        release()
        shared.heard()
        if ('chunk' in item) yield item.chunk as ResolvedEvent
      }
      // A client that is replaced ends its reads as if that were all.
      if (shared.current() !== client) throw new CutOff('the client was replaced')
    } catch (error) {
      if (error instanceof TimedOut) shared.notHeard()
      else shared.heard()
      throw error
    } finally {
      release()
    }
  }

  const resumed = async function* <A>(open: () => AsyncIterable<A>): AsyncGenerator<A> {
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
        failures += failuresIn(error)
        if (error instanceof StreamNotFoundError) {
          health.report('event-log-reads', null)
          return
        }
        if (
          error instanceof StoreUnavailable ||
          closed.aborted ||
          !mayPass(error) ||
          failures >= MAX_FAILURES
        ) {
          const failed = unavailable(error)
          if (!closed.aborted) health.report('event-log-reads', failed)
          throw failed
        }
        await backOff(failures, closed)
      }
    }
  }

  const backwards = (maxCount: number) =>
    ending(
      maxCount,
      shared.current().readAll({ fromPosition: END, direction: BACKWARDS, maxCount }, BUFFERED),
    )

  return {
    readStream: (stream, { from, backwards = false, limit = Infinity } = {}) => {
      let next = from
      let left = limit
      return resumed(async function* () {
        // Before the first event the server would begin at the end.
        const isOver = () => left <= 0 || (backwards && next !== undefined && next < 0n)
        for (let page = SHORT; !isOver(); page = LONG) {
          const maxCount = Math.min(left, page)
          let came = 0
          const open = () =>
            ending(
              maxCount,
              shared
                .current()
                .readStream(
                  stream,
                  {
                    fromRevision: next ?? (backwards ? END : START),
                    direction: backwards ? BACKWARDS : FORWARDS,
                    maxCount,
                  },
                  BUFFERED,
                ),
            )
          for await (const { event } of events(open)) {
            if (event === undefined) continue
            const recorded = ourEvent(event)
            if (recorded === undefined)
              throw new ForeignEvent(
                `event ${event.revision} of stream ${stream} was not written by Tallytree`,
              )
            next = recorded.revision + (backwards ? -1n : 1n)
            came += 1
            left -= 1
            yield recorded
          }
          if (came < maxCount) return
        }
      })
    },

    readAll: ({ after = 0n, limit = Infinity } = {}) => {
      let last = after
      let left = limit
      return resumed(async function* () {
        for (let page = SHORT; left > 0; page = LONG) {
          // A read begins with the event at the position it is given.
          const maxCount = Math.min(left + 1, page)
          let came = 0
          const open = () =>
            ending(
              maxCount,
              shared
                .current()
                .readAll({ fromPosition: last > 0n ? clientPosition(last) : START, maxCount }, BUFFERED),
            )
          for await (const { event } of events(open)) {
            came += 1
            if (event?.position === undefined || event.position.commit <= last) continue
            const recorded = ourEvent(event)
            last = event.position.commit
            if (recorded === undefined) continue
            left -= 1
            yield recorded
            if (left <= 0) return
          }
          if (came < maxCount) return
        }
      })
    },

    readBackwards: (types) => {
      let before: Position | undefined
      return resumed(async function* () {
        for await (const { event } of events(() => backwards(Number.MAX_SAFE_INTEGER))) {
          if (event?.position === undefined || !types.has(event.type)) continue
          if (before !== undefined && event.position.commit >= before) continue
          const recorded = ourEvent(event)
          before = event.position.commit
          if (recorded !== undefined) yield recorded
        }
      })
    },

    // Mostly the last event is ours; otherwise the read goes back until one is.
    lastAfter: async (bound) => {
      for (const maxCount of [1, Number.MAX_SAFE_INTEGER]) {
        const ours = async function* () {
          for await (const { event } of events(() => backwards(maxCount))) {
            if (event?.position !== undefined && event.position.commit <= bound) return
            const recorded = event === undefined ? undefined : ourEvent(event)
            if (recorded !== undefined) yield recorded
          }
        }
        for await (const { position } of resumed(ours)) return position
      }
      return bound
    },

    goalAfter: async (bound, types) => {
      const goal = async function* (): AsyncGenerator<Goal> {
        let end = bound
        let left = CHECKPOINTED
        for await (const { event } of events(() => backwards(CHECKPOINTED))) {
          if (event?.position === undefined || event.position.commit <= bound) break
          const position = event.position.commit
          if (end === bound) end = position
          left -= 1
          if (left > 0 && !(types?.has(event.type) ?? !isSystemName(event.type))) continue
          yield { position, end }
          return
        }
        yield { position: bound, end }
      }
      for await (const found of resumed(goal)) return found
      return { position: bound, end: bound }
    },
  }
}

const ending = (maxCount: number, read: StreamingRead<unknown>): ClientStream =>
  Object.assign(read, { stop: () => read.cancel(), isShort: maxCount <= SHORT })

const requireOpen = (closed: AbortSignal): void => {
  if (closed.aborted) throw new StoreUnavailable('the event store is closed')
}
