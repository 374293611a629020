import { setMaxListeners } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import type { EventStore, Position, RecordedEvent, TailItem } from '../../kernel/ports/event-store.js'
import { commitSignal, type CommitSignal } from './commit-signal.js'

type Subscribe = EventStore['subscribeAll']

/** When more is kept, the older half is dropped. */
const KEPT = { events: 4096, characters: 8 * 1024 * 1024 }
const PAGE_EVENTS = 500

/** The end of the log as one subscription delivers it: all events after `after`, up to `upTo`. */
interface Tail {
  readonly grown: CommitSignal
  readonly stopping: AbortController
  events: RecordedEvent[]
  characters: number
  after: Position
  upTo: Position
  followers: number
  failure: { readonly error: unknown } | undefined
}

/**
 * Gives all followers of a process one subscription, so that each event is sent and decoded once. A follower subscribes by
 * itself until it has caught up, and again when it is further behind than what is kept.
 */
export const sharedTail = (subscribeAll: Subscribe, most = KEPT): Subscribe => {
  let current: Tail | undefined

  const start = (after: Position): Tail => {
    const stopping = new AbortController()
    setMaxListeners(0, stopping.signal)
    const tail: Tail = {
      grown: commitSignal(),
      stopping,
      events: [],
      characters: 0,
      after,
      upTo: after,
      followers: 0,
      failure: undefined,
    }
    void fill(tail, most, subscribeAll({ after, signal: stopping.signal })).finally(() => {
      if (current === tail) current = undefined
      tail.grown.close()
    })
    return tail
  }

  return async function* ({ after = 0n, types, signal } = {}) {
    let position = after
    let saidCaughtUp = false
    const isOver = () => signal?.aborted === true

    /** The items of a subscription of its own, until the position is in the tail. */
    async function* catchUp(): AsyncGenerator<TailItem, Tail | undefined> {
      const joined = new AbortController()
      const until = signal === undefined ? joined.signal : AbortSignal.any([joined.signal, signal])
      let isCaughtUp = false
      try {
        for await (const item of subscribeAll({ after: position, types, signal: until })) {
          if (item.kind === 'caughtUp') isCaughtUp = true
          else position = item.kind === 'event' ? item.event.position : item.position
          if (item.kind !== 'caughtUp' || !saidCaughtUp) yield item
          saidCaughtUp ||= isCaughtUp
          if (!isCaughtUp) continue
          current ??= start(position)
          if (position >= current.after) return current
        }
        return undefined
      } finally {
        joined.abort()
      }
    }

    async function* follow(tail: Tail): AsyncGenerator<TailItem> {
      tail.followers += 1
      try {
        while (!isOver() && position >= tail.after) {
          const seen = tail.grown.count()
          const { upTo } = tail
          const page = pageOf(tail, position)
          for (const event of page) {
            if (isOver()) return
            position = event.position
            if (types === undefined || types.has(event.type)) yield { kind: 'event', event }
          }
          if (page.length === PAGE_EVENTS) {
            await setImmediate()
            continue
          }
          const last = page.at(-1)
          const isFiltered = last !== undefined && types !== undefined && !types.has(last.type)
          if (upTo > position || isFiltered) {
            if (upTo > position) position = upTo
            yield { kind: 'checkpoint', position }
          }
          if (tail.failure !== undefined) throw tail.failure.error
          if (tail.grown.isClosed()) return
          await tail.grown.after(seen, signal)
        }
      } finally {
        tail.followers -= 1
        if (tail.followers === 0) {
          if (current === tail) current = undefined
          tail.stopping.abort()
        }
      }
    }

    while (!isOver()) {
      const tail = yield* catchUp()
      if (tail === undefined) return
      // Its last follower left while the own subscription was closed.
      if (tail.stopping.signal.aborted) continue
      yield* follow(tail)
      if (tail.grown.isClosed() && tail.failure === undefined) return
    }
  }
}

const fill = async (tail: Tail, most: typeof KEPT, items: AsyncIterable<TailItem>): Promise<void> => {
  try {
    for await (const item of items) {
      if (item.kind === 'caughtUp') continue
      if (item.kind === 'event') keep(tail, most, item.event)
      tail.upTo = item.kind === 'event' ? item.event.position : item.position
      tail.grown.announce()
    }
  } catch (error) {
    tail.failure = { error }
  }
}

const keep = (tail: Tail, most: typeof KEPT, event: RecordedEvent): void => {
  tail.events.push(event)
  tail.characters += event.size
  if (tail.events.length <= most.events && tail.characters <= most.characters) return
  const dropped = tail.events.splice(0, Math.ceil(tail.events.length / 2))
  for (const { size } of dropped) tail.characters -= size
  tail.after = dropped.at(-1)!.position
}

/** The next kept events after a position. */
const pageOf = ({ events }: Tail, position: Position): readonly RecordedEvent[] => {
  let [low, high] = [0, events.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (events[middle]!.position <= position) low = middle + 1
    else high = middle
  }
  return events.slice(low, low + PAGE_EVENTS)
}
