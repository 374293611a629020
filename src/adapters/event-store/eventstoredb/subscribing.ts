import { backoff } from '../../../kernel/backoff.js'
import type { EventStore, Position, TailItem } from '../../../kernel/ports/event-store.js'
import { NewerEvents } from '../../../kernel/ports/event-store-errors.js'
import type { SharedConnection } from './connection.js'
import { isRefused, readFailure } from './errors.js'
import { SHORT_PAGE, type Goal, type Reads } from './reading.js'
import type { WireEvent } from './read-response.js'
import { positionOf } from './recorded-event.js'
import { logRequest } from './requests.js'
import { responsesOf } from './responses.js'
import { BACKOFF } from './waiting.js'

/** A subscription that lasted this long had started well. */
const STEADY_MS = 2000
/** How often in a row it may fail before its reader gets the error. */
const MAX_TRIES = 8

/**
 * A subscription of the server ends with its connection; this one continues after the last position. The server's own
 * events and those of other programs advance its position.
 */
export const subscribing = (
  connection: SharedConnection,
  reads: Pick<Reads, 'decode' | 'pageAfter' | 'goalAfter'>,
  closed: AbortSignal,
): EventStore['subscribeAll'] =>
  async function* ({ after = 0n, types, signal } = {}) {
    const stopping = signal === undefined ? closed : AbortSignal.any([closed, signal])
    const progress: Progress = { last: after, goal: undefined, isCaughtUp: false }
    const isOver = () => stopping.aborted
    for (let failures = 0; !isOver();) {
      const begun = performance.now()
      let reason: unknown
      try {
        for await (const item of subscribeOnce(connection, reads, progress, types, stopping)) {
          if (isOver()) return
          yield item
        }
      } catch (error) {
        reason = error
      }
      if (isOver()) return
      failures = performance.now() - begun > STEADY_MS ? 1 : failures + 1
      if (failures === MAX_TRIES || isRefused(reason) || reason instanceof NewerEvents)
        throw readFailure(reason)
      await backoff(failures, { ...BACKOFF, signal: stopping })
    }
  }

interface Progress {
  last: Position
  /** Of the log as it was when the subscription began, until it is reached. */
  goal: Goal | undefined
  /** Whether `caughtUp` was emitted, once for a subscription. */
  isCaughtUp: boolean
}

/**
 * The first page is read, because servers up to 23.10 skip an event when they subscribe after a position that was
 * scavenged. It also finds out whether the server answers, since a subscription may be quiet.
 */
async function* subscribeOnce(
  connection: SharedConnection,
  reads: Pick<Reads, 'decode' | 'pageAfter' | 'goalAfter'>,
  progress: Progress,
  types: ReadonlySet<string> | undefined,
  signal: AbortSignal,
): AsyncGenerator<TailItem> {
  /** An event that is not delivered is a checkpoint. */
  const advance = (event: WireEvent): TailItem | undefined => {
    const position = positionOf(event)
    if (position <= progress.last) return undefined
    const recorded = types?.has(event.type) === false ? undefined : reads.decode(event)
    if (recorded === undefined) return checkpointAt(progress, position)
    progress.last = position
    return { kind: 'event', event: recorded }
  }

  const page = await reads.pageAfter(progress.last)
  for (const event of page) {
    const item = advance(event)
    if (item !== undefined) yield item
  }
  // Servers before 23.10 do not send `caughtUp`, and none reports the end of the log if the filter excludes its events.
  progress.goal =
    page.length < SHORT_PAGE
      ? { position: progress.last, end: progress.last }
      : await reads.goalAfter(progress.last, types)
  yield* reachGoal(progress, false)

  const channel = await connection.channel()
  try {
    const call = channel.read(logRequest({ from: progress.last, types }))
    for await (const responses of responsesOf(call, { signal })) {
      connection.onResponse()
      for (const { event, checkpoint = 0n, isCaughtUp } of responses) {
        const item = event === undefined ? checkpointAt(progress, checkpoint) : advance(event)
        if (item !== undefined) yield item
        yield* reachGoal(progress, isCaughtUp)
      }
    }
  } catch (error) {
    channel.onFailure(error)
    throw error
  }
}

function* reachGoal(progress: Progress, isCaughtUp: boolean): Generator<TailItem> {
  const { goal } = progress
  if (goal === undefined || !(isCaughtUp || progress.last >= goal.position)) return
  progress.goal = undefined
  const end = checkpointAt(progress, goal.end)
  if (end !== undefined) yield end
  if (!progress.isCaughtUp) yield { kind: 'caughtUp' }
  progress.isCaughtUp = true
}

const checkpointAt = (progress: Progress, position: Position): TailItem | undefined => {
  if (position <= progress.last) return undefined
  progress.last = position
  return { kind: 'checkpoint', position }
}
