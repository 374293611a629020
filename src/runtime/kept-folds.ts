import { LRUCache } from 'lru-cache'
import type { Position, RecordedEvent } from '../domain/ports/event-store.js'
import type { Ports } from '../domain/ports/ports.js'
import type { Loaded } from './execute.js'
import { KeyedMutex } from './keyed-mutex.js'

/** How a stream is folded; `take` may change the state that it is given. */
export interface Fold<State> {
  readonly fresh: () => State
  /** Called before events are added to a state that was returned, so that the returned one does not change. */
  readonly copy: (state: State) => State
  readonly take: (state: State, event: RecordedEvent) => State
  readonly weightOf: (state: State) => number
}

/** A stream's state as of the end of the log. */
export type KeptFolds<State> = (stream: string) => Promise<Loaded<State>>

interface CachedFold<State> {
  state: State
  /** The revision that is read next. */
  next: bigint
  position: Position | undefined
}

/**
 * An LRU cache of folded streams. Each lookup reads the events since the cached revision, so it never returns a stale
 * state.
 */
export const keptFolds = <State>(
  { eventStore }: Pick<Ports, 'eventStore'>,
  { fresh, copy, take, weightOf }: Fold<State>,
  maxWeight: number,
): KeptFolds<State> => {
  const cache = new LRUCache<string, CachedFold<State>>({ maxSize: Math.max(1, maxWeight) })
  /** Lookups of one stream follow one another, so that no event is taken twice. */
  const mutex = new KeyedMutex()

  const readOn = async (stream: string, fold: CachedFold<State>): Promise<Loaded<State>> => {
    let isOwn = fold.next === 0n
    for await (const event of eventStore.readStream(stream, { from: fold.next })) {
      fold.state = take(isOwn ? fold.state : copy(fold.state), event)
      fold.next = event.revision + 1n
      fold.position = event.position
      isOwn = true
    }
    const { state, next, position } = fold
    return { state, expected: next === 0n ? 'none' : next - 1n, position }
  }

  return (stream) =>
    mutex.runExclusive(stream, async () => {
      const fold = cache.get(stream) ?? { state: fresh(), next: 0n, position: undefined }
      try {
        return await readOn(stream, fold)
      } finally {
        // A fold over the limit stays, alone, until another one is looked up.
        const size = Math.min(Math.max(1, weightOf(fold.state)), cache.maxSize)
        if (fold.next > 0n) cache.set(stream, fold, { size })
      }
    })
}
