import { LRUCache } from 'lru-cache'
import type { Decider, DomainEvent } from './decider.js'
import type { Cause } from './event.js'
import { catchUp, newFold, type FoldOfStream } from './kept-folds.js'
import { onErased } from './erased-streams.js'
import type { RecordedEvent } from './ports/event-store.js'
import type { Ports } from './ports/ports.js'
import { appendDecided, type ExecuteResult, type LoadedState } from './execute.js'
import { KeyedMutex } from './keyed-mutex.js'

/** How a stream is folded; `evolve` may change the state that it is given, and returns it. */
export interface Fold<State> {
  readonly initialState: () => State
  readonly evolve: (state: State, event: RecordedEvent) => State
  readonly weightOf: (state: State) => number
  /** Whether an unreadable event may be passed over. */
  readonly mayLack?: (event: RecordedEvent) => boolean
}

/**
 * Returns what `read` takes from a stream's state as of the end of the log. `read` must not keep the state: the next
 * events change it in place, so that an event costs the same however large the state is.
 */
export type FoldCache<State> = <A>(stream: string, read: (loaded: LoadedState<State>) => A) => Promise<A>

/**
 * An LRU cache of folded streams. Each lookup reads the events since the cached revision, so it never returns a stale
 * state.
 */
export const foldCache = <State>(
  { eventStore }: Pick<Ports, 'eventStore'>,
  { initialState, evolve, weightOf, mayLack }: Fold<State>,
  maxWeight: number,
): FoldCache<State> => {
  const cache = new LRUCache<string, FoldOfStream<State>>({ maxSize: Math.max(1, maxWeight) })
  let erasures = 0
  onErased(eventStore, (streams) => {
    erasures += 1
    for (const stream of streams) cache.delete(stream)
  })
  /** Serialises lookups of one stream, so that no event is folded twice. */
  const mutex = new KeyedMutex()

  const readOn = async (stream: string, fold: FoldOfStream<State>): Promise<LoadedState<State>> => {
    await catchUp(eventStore, stream, fold, evolve, undefined, mayLack)
    const { state, next, position } = fold
    return { state, expected: next === 0n ? 'none' : next - 1n, position }
  }

  return (stream, read) =>
    mutex.runExclusive(stream, async () => {
      const erasuresBefore = erasures
      const fold = cache.get(stream) ?? newFold(initialState())
      try {
        return read(await readOn(stream, fold))
      } finally {
        // A fold over the limit is cached alone, until the next one is added.
        const size = Math.min(Math.max(1, weightOf(fold.state)), cache.maxSize)
        if (fold.next > 0n && erasures === erasuresBefore) cache.set(stream, fold, { size })
      }
    })
}

/**
 * Runs one command on a kept fold. `answer` gets the state that was decided on together with the events: the state
 * has them only once they are read from the log.
 */
export const executeOnFold =
  (ports: Pick<Ports, 'eventStore' | 'ids'>) =>
  <State, Command, Event extends DomainEvent, Answer>(
    stateOf: FoldCache<State>,
    { decide }: Pick<Decider<State, Command, Event>, 'decide'>,
    stream: string,
    command: Command,
    cause: Cause,
    answer: (state: State, events: readonly Event[]) => Answer,
  ): Promise<ExecuteResult<Answer, Event>> =>
    appendDecided(ports, stream, cause, () =>
      stateOf(stream, ({ state, expected, position }) => {
        const { events, refused } = decide(state, command)
        const refusals = new Map(refused === undefined ? [] : [[0, refused]])
        return { state: answer(state, events), events, refusals, expected, position }
      }),
    )
