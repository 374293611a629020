import { LRUCache } from 'lru-cache'
import { onErased } from './erased-streams.js'
import type { EventStore, Position, RecordedEvent } from './ports/event-store.js'
import { StreamUnreadable } from './ports/event-store-errors.js'
import { requireRevision } from './unreadable-event.js'

/** A stream folded up to a revision. */
export interface FoldOfStream<State> {
  state: State
  /** The next revision to read. */
  next: bigint
  position: Position | undefined
  /** Characters of its events. */
  read: number
}

export const newFold = <State>(state: State): FoldOfStream<State> => ({
  state,
  next: 0n,
  position: undefined,
  read: 0,
})

/**
 * Reads the events that a fold lacks, up to a position if one is given. Concurrent calls read the same events; each event is
 * applied once.
 *
 * @throws StreamUnreadable at a missing event, and at an unreadable one unless the fold may do without it
 */
export const catchUp = async <State>(
  eventStore: Pick<EventStore, 'readStream'>,
  stream: string,
  fold: FoldOfStream<State>,
  evolve: (state: State, event: RecordedEvent) => State,
  until?: Position,
  mayLack: (event: RecordedEvent) => boolean = () => false,
): Promise<void> => {
  for await (const event of eventStore.readStream(stream, { from: fold.next, withUnreadable: true })) {
    if (until !== undefined && event.position > until) return
    if (event.revision < fold.next) continue
    requireRevision(fold.next, event)
    if (event.unreadable === undefined) fold.state = evolve(fold.state, event)
    else if (!mayLack(event)) throw new StreamUnreadable(stream, event.unreadable, event.position)
    fold.next = event.revision + 1n
    fold.position = event.position
    fold.read += event.size
  }
}

/** Shorter streams are read again for each command, so that the many small ones do not displace long ones. */
const KEPT_FROM_EVENTS = 64n
const MOST_CHARACTERS = 64 * 1024 * 1024
/** A longer stream counts as this, so that one alone never displaces all others. */
const MOST_OF_ONE = MOST_CHARACTERS / 8

interface KeptFold {
  readonly initialState: unknown
  readonly fold: FoldOfStream<unknown>
}

/** The folds of long streams, so that a command costs the same however long its stream has become. */
export interface KeptFolds {
  /** Deciders of one stream with the same initial state share its fold; with another, it has a fold of its own. */
  readonly get: <State>(
    decider: { readonly initialState: () => State },
    stream: string,
  ) => FoldOfStream<State> | undefined
  readonly keep: <State>(
    decider: { readonly initialState: () => State },
    stream: string,
    fold: FoldOfStream<State>,
  ) => void
  /** Changes when events are erased: a fold that was read before must not be kept. */
  readonly erasures: () => number
}

const newKeptFolds = (store: object): KeptFolds => {
  const cache = new LRUCache<string, KeptFold>({ maxSize: MOST_CHARACTERS })
  let erasures = 0
  onErased(store, (streams) => {
    erasures += 1
    for (const stream of streams) cache.delete(stream)
  })
  return {
    erasures: () => erasures,
    get: <State>({ initialState }: { readonly initialState: () => State }, stream: string) => {
      const kept = cache.get(stream)
      return kept?.initialState === initialState ? (kept.fold as FoldOfStream<State>) : undefined
    },
    keep: ({ initialState }, stream, fold) => {
      if (fold.next < KEPT_FROM_EVENTS || cache.peek(stream)?.fold === fold) return
      const size = Math.max(1, Math.min(fold.read, MOST_OF_ONE))
      cache.set(stream, { initialState, fold }, { size })
    },
  }
}

const ofStores = new WeakMap<object, KeptFolds>()

export const keptFoldsOf = (store: object): KeptFolds => {
  const folds = ofStores.get(store) ?? newKeptFolds(store)
  ofStores.set(store, folds)
  return folds
}
