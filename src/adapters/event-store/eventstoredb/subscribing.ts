import {
  eventTypeFilter,
  excludeSystemEvents,
  START,
  type AllStreamResolvedEvent,
} from '@eventstore/db-client'
import type { EventStore, Position, TailItem } from '../../../kernel/ports/event-store.js'
import { mayPass, unavailable } from './failures.js'
import type { SharedClient } from './one-client.js'
import { markers, type ClientStream, type Markers } from './pulled.js'
import type { Goal, Reads } from './reading.js'
import { clientPosition, ourEvent } from './recorded-event.js'
import { backOff } from './waiting.js'

type Marker = 'caughtUp' | { readonly checkpoint: Position }

/** A subscription that went on for this long had begun well. */
const STEADY_MS = 2000
/** How often in a row one is taken up again before its reader is told. */
const MAX_TRIES = 8
const BUFFERED = { highWaterMark: 256 }

/**
 * A subscription of the server ends when its connection does; this one is then taken up after the last position. That it
 * caught up is said once: when the server says so for the first time, or when it has come to where the log ended as it
 * began, since old servers do not say it. No server reports the end of the log when it leaves out the last events; that
 * follows from the goal.
 */
export const subscribing = (
  shared: SharedClient,
  reads: Pick<Reads, 'goalAfter'>,
  closed: AbortSignal,
): EventStore['subscribeAll'] =>
  async function* ({ after = 0n, types, signal } = {}) {
    const stopping = signal === undefined ? closed : AbortSignal.any([closed, signal])
    const progress: Progress = { last: after, goal: undefined, saidCaughtUp: false }
    const isOver = () => stopping.aborted
    for (let failures = 0; !isOver();) {
      const begun = performance.now()
      let reason: unknown
      try {
        // A subscription may rest, so that it is this read which finds out that nobody is there.
        const goal = await reads.goalAfter(progress.last, types)
        progress.goal ??= goal
        for await (const item of onceSubscribed(shared, progress, types, stopping)) {
          if (isOver()) return
          yield item
        }
      } catch (error) {
        reason = error
      }
      if (isOver()) return
      failures = performance.now() - begun > STEADY_MS ? 1 : failures + 1
      if (failures === MAX_TRIES || !mayPass(reason)) throw unavailable(reason)
      await backOff(failures, stopping)
    }
  }

interface Progress {
  last: Position
  /** Of the log as it was at the beginning, until it is reached. */
  goal: Goal | undefined
  saidCaughtUp: boolean
}

async function* onceSubscribed(
  shared: SharedClient,
  progress: Progress,
  types: ReadonlySet<string> | undefined,
  signal: AbortSignal,
): AsyncGenerator<TailItem> {
  const caughtUp = function* (said: boolean): Generator<TailItem> {
    const { goal } = progress
    const isReached = goal !== undefined && progress.last >= goal.position
    if (isReached) progress.goal = undefined
    if (isReached && goal.end > progress.last) {
      progress.last = goal.end
      yield { kind: 'checkpoint', position: goal.end }
    }
    if (progress.saidCaughtUp || !(said || isReached)) return
    progress.saidCaughtUp = true
    yield { kind: 'caughtUp' }
  }
  yield* caughtUp(false)
  const said = markers<Marker>()
  const stream = openSubscription(shared, progress.last, types, said)
  for await (const item of said.pull(stream, { signal, silenceMs: undefined })) {
    if ('chunk' in item) {
      const { event } = item.chunk as AllStreamResolvedEvent
      if (event === undefined || event.position.commit <= progress.last) continue
      progress.last = event.position.commit
      const recorded = ourEvent(event)
      if (recorded !== undefined) yield { kind: 'event', event: recorded }
    } else if (item.marker !== 'caughtUp' && item.marker.checkpoint > progress.last) {
      progress.last = item.marker.checkpoint
      yield { kind: 'checkpoint', position: progress.last }
    }
    yield* caughtUp('marker' in item && item.marker === 'caughtUp')
  }
}

const openSubscription = (
  shared: SharedClient,
  after: Position,
  types: ReadonlySet<string> | undefined,
  said: Pick<Markers<Marker>, 'note'>,
): ClientStream => {
  const checkpointReached = (_: unknown, { commit }: { readonly commit: Position }) =>
    said.note({ checkpoint: commit })
  const subscription = shared
    .current()
    .subscribeToAll(
      {
        fromPosition: after > 0n ? clientPosition(after) : START,
        filter:
          types === undefined
            ? excludeSystemEvents({ checkpointReached })
            : eventTypeFilter({ regex: `^(?:${[...types].join('|')})$`, checkpointReached }),
      },
      BUFFERED,
    )
  subscription.on('caughtUp', () => said.note('caughtUp'))
  return Object.assign(subscription, { stop: () => subscription.unsubscribe(), isShort: false })
}
