import { LRUCache } from 'lru-cache'
import type { Position, RecordedEvent } from '../domain/ports/event-store.js'
import type { Ports } from '../domain/ports/ports.js'
import type { LoadedState } from './execute.js'
import { KeyedMutex } from './keyed-mutex.js'

/** How a stream is folded. `evolve` may mutate the state that it is given. */
export interface Fold<State> {
  readonly initialState: () => State
  /** Called before events are added to a state that was already returned, so that callers' state does not change. */
  readonly copy: (state: State) => State
  readonly evolve: (state: State, event: RecordedEvent) => State
  readonly weightOf: (state: State) => number
}

/** A stream's state as of the end of the log. */
export type FoldCache<State> = (stream: string) => Promise<LoadedState<State>>

interface CachedFold<State> {
  state: State
  /** The next revision to read. */
  next: bigint
  position: Position | undefined
}

/**
 * An LRU cache of folded streams. Each lookup reads the events since the cached revision, so it never returns a stale
 * state.
 */
export const foldCache = <State>(
  { eventStore }: Pick<Ports, 'eventStore'>,
  { initialState, copy, evolve, weightOf }: Fold<State>,
  maxWeight: number,
): FoldCache<State> => {
  const cache = new LRUCache<string, CachedFold<State>>({ maxSize: Math.max(1, maxWeight) })
  /** Serialises lookups of one stream, so that no event is folded twice. */
  const mutex = new KeyedMutex()

  const readOn = async (stream: string, fold: CachedFold<State>): Promise<LoadedState<State>> => {
    let isOwn = fold.next === 0n
    for await (const event of eventStore.readStream(stream, { from: fold.next })) {
      fold.state = evolve(isOwn ? fold.state : copy(fold.state), event)
      fold.next = event.revision + 1n
      fold.position = event.position
      isOwn = true
    }
    const { state, next, position } = fold
    return { state, expected: next === 0n ? 'none' : next - 1n, position }
  }

  return (stream) =>
    mutex.runExclusive(stream, async () => {
      const fold = cache.get(stream) ?? { state: initialState(), next: 0n, position: undefined }
      try {
        return await readOn(stream, fold)
      } finally {
        // A fold over the limit is cached alone, until the next one is added.
        const size = Math.min(Math.max(1, weightOf(fold.state)), cache.maxSize)
        if (fold.next > 0n) cache.set(stream, fold, { size })
      }
    })
}
