import { setMaxListeners } from 'node:events'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { EventStore, Position, RecordedEvent, TailItem } from '../../kernel/ports/event-store.js'
import { within } from '../../kernel/within.js'
import { commitSignal, type CommitSignal } from './commit-signal.js'

type Subscribe = EventStore['subscribeAll']
type Types = ReadonlySet<string> | undefined

const LIMITS = {
  /** When a tail keeps more, it drops the older half. */
  events: 4096,
  characters: 8 * 1024 * 1024,
  /** A catch-up buffers the first events of the log for this long, so that followers that start later can join it. */
  joinMs: 500,
  /**
   * A catch-up waits this long for its slowest follower, which is longer than a large insert takes, and as long in all for
   * followers that started later.
   */
  patienceMs: 5000,
}
const PAGE_EVENTS = 500
/** How often a catch-up looks whether followers of other tails have come up with it. */
const LOOK_MS = 10

interface Follower {
  readonly types: Types
  position: Position
}

/** What one subscription delivers: all events of its types after `after`, up to `upTo`. */
interface Tail {
  readonly types: Types
  readonly grown: CommitSignal
  /** A follower joined, read a page or left. */
  readonly read: CommitSignal
  readonly stopping: AbortController
  readonly followers: Set<Follower>
  readonly joinUntil: number
  /** How long it may still wait for followers of other tails. */
  patienceMs: number
  events: RecordedEvent[]
  characters: number
  after: Position
  upTo: Position
  /** It began at the end of the log, or came there. */
  isLive: boolean
  /** The end of the log when it was reached first. */
  caughtUpAt: Position | undefined
  failure: { readonly error: unknown } | undefined
}

/**
 * Gives the followers of a process one subscription, so that each event is sent and decoded once. Followers that begin at
 * the same position catch up together, at the pace of the slowest. One that is further behind than what is kept reads by
 * itself until it has caught up.
 */
export const sharedTail = (subscribeAll: Subscribe, limits: Partial<typeof LIMITS> = {}): Subscribe => {
  const tails = new Set<Tail>()
  const most = { ...LIMITS, ...limits }

  const open = (after: Position, types: Types, isLive: boolean): Tail => {
    const tail = emptyTail(after, types, isLive, most)
    tails.add(tail)
    void fill(tail, tails, most, subscribeAll({ after, types, signal: tail.stopping.signal })).finally(() => {
      tails.delete(tail)
      tail.grown.close()
    })
    return tail
  }

  /** A tail that caught up before a follower began does not know where the log ended then. */
  const tailFor = (position: Position, types: Types, isCaughtUp: boolean): Tail | undefined => {
    let best: Tail | undefined
    for (const tail of tails) {
      if (!hasTypes(tail, types)) continue
      if (tail.failure !== undefined || !(isCaughtUp || tail.caughtUpAt === undefined)) continue
      if (position < tail.after || (position > tail.upTo && !tail.isLive)) continue
      if (tail.isLive && tail.types === undefined) return tail
      if (best === undefined || tail.upTo > best.upTo) best = tail
    }
    return best
  }

  return async function* ({ after = 0n, types, signal } = {}) {
    const follower: Follower = { types, position: after }
    let isCaughtUp = false
    const isOver = () => signal?.aborted === true

    /** Until it falls behind, or another tail has the next events too. */
    async function* follow(tail: Tail): AsyncGenerator<TailItem, 'left' | 'live' | 'ended'> {
      while (!isOver() && follower.position >= tail.after) {
        const seen = tail.grown.count()
        const { upTo, caughtUpAt } = tail
        const page = pageOf(tail, follower.position)
        let last = follower.position
        for (const event of page) {
          if (isOver()) return 'ended'
          follower.position = event.position
          if (types !== undefined && !types.has(event.type)) continue
          last = event.position
          yield { kind: 'event', event }
        }
        tail.read.announce()
        const isFull = page.length === PAGE_EVENTS
        if (!isFull && upTo > follower.position) follower.position = upTo
        if (follower.position > last) yield { kind: 'checkpoint', position: follower.position }
        if (!isFull && !isCaughtUp && caughtUpAt !== undefined && follower.position >= caughtUpAt) {
          isCaughtUp = true
          yield { kind: 'caughtUp' }
        }
        const best = tailFor(follower.position, types, isCaughtUp)
        if (best !== undefined && best !== tail) return 'left'
        // A subscription to some types is not shared at the end of the log.
        if (isCaughtUp && tail.isLive && tail.types !== undefined && !isFull) return 'live'
        if (isFull) await setImmediate()
        else if (tail.failure !== undefined) throw tail.failure.error
        else if (tail.grown.isClosed()) return 'ended'
        else await tail.grown.after(seen, signal)
      }
      return 'left'
    }

    for (let state = 'left'; state !== 'ended' && !isOver();) {
      const { position } = follower
      const found = tailFor(position, types, isCaughtUp)
      const isLive = state === 'live'
      const isNew = found === undefined || (isLive && found.types !== undefined)
      // Opened only here, where it gets a follower at once: one without followers would never end.
      const tail = isNew ? open(position, isLive ? undefined : types, isLive) : found
      tail.followers.add(follower)
      tail.read.announce()
      try {
        state = yield* follow(tail)
      } finally {
        tail.followers.delete(follower)
        tail.read.announce()
        if (tail.followers.size === 0) {
          tails.delete(tail)
          tail.stopping.abort()
        }
      }
    }
  }
}

const hasTypes = (tail: Tail, types: Types): boolean => tail.types === undefined || tail.types === types

const emptyTail = (
  after: Position,
  types: Types,
  isLive: boolean,
  { joinMs, patienceMs }: typeof LIMITS,
): Tail => {
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal)
  return {
    types,
    grown: commitSignal(),
    read: commitSignal(),
    stopping,
    followers: new Set(),
    joinUntil: isLive || after > 0n ? 0 : performance.now() + joinMs,
    patienceMs,
    events: [],
    characters: 0,
    after,
    upTo: after,
    isLive,
    caughtUpAt: undefined,
    failure: undefined,
  }
}

const fill = async (
  tail: Tail,
  tails: ReadonlySet<Tail>,
  most: typeof LIMITS,
  items: AsyncIterable<TailItem>,
): Promise<void> => {
  let isAnnounced = false
  /** Once for all events of a turn of the event loop. */
  const announce = () => {
    if (isAnnounced) return
    isAnnounced = true
    globalThis.setImmediate(() => {
      isAnnounced = false
      tail.grown.announce()
    })
  }
  try {
    for await (const item of items) {
      if (item.kind === 'caughtUp') {
        tail.caughtUpAt = tail.upTo
        tail.isLive = true
      } else if (item.kind === 'checkpoint') tail.upTo = item.position
      else {
        while (isFull(tail, most)) {
          await followersBehind(tail, tails)
          await followersOf(tail, most)
          dropOlderHalf(tail)
        }
        tail.events.push(item.event)
        tail.characters += item.event.size
        tail.upTo = item.event.position
      }
      announce()
    }
  } catch (error) {
    tail.failure = { error }
  }
}

const isFull = ({ events, characters }: Tail, most: typeof LIMITS): boolean =>
  events.length >= most.events || (characters >= most.characters && events.length > 0)

/**
 * Waits for followers of other tails that need what this one has dropped: once they have read it, they join this one, so
 * that the rest of the log is read once.
 */
const followersBehind = async (tail: Tail, tails: ReadonlySet<Tail>): Promise<void> => {
  const isBehind = ({ position, types }: Follower) => position < tail.after && hasTypes(tail, types)
  const areBehind = () => [...tails].some(({ followers }) => [...followers].some(isBehind))
  while (!tail.isLive && !tail.stopping.signal.aborted && tail.patienceMs > 0 && areBehind()) {
    const began = performance.now()
    await sleep(LOOK_MS)
    tail.patienceMs -= performance.now() - began
  }
}

/**
 * Waits until no follower needs the older half: a single follower without limit, several for as long as patience lasts, and
 * at the end of the log not at all.
 */
const followersOf = async (tail: Tail, { patienceMs }: typeof LIMITS): Promise<void> => {
  const { signal } = tail.stopping
  const toJoin = tail.joinUntil - performance.now()
  if (toJoin > 0) await sleep(toJoin, undefined, { signal }).catch(() => undefined)
  const { position } = tail.events[olderHalf(tail) - 1]!
  const until = performance.now() + (tail.isLive ? 0 : patienceMs)
  const isNeeded = () => [...tail.followers].some((follower) => follower.position < position)
  while (!signal.aborted && (tail.followers.size === 0 || isNeeded())) {
    const leftMs = tail.followers.size > 1 ? until - performance.now() : Infinity
    if (leftMs <= 0) return
    await within(leftMs, tail.read.after(tail.read.count(), signal))
  }
}

const olderHalf = ({ events }: Tail): number => Math.ceil(events.length / 2)

const dropOlderHalf = (tail: Tail): void => {
  const dropped = tail.events.splice(0, olderHalf(tail))
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
