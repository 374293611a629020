import type { Loaded } from './execute.js'
import type { RecordedEvent } from '../domain/ports/event-store.js'
import type { Ports } from '../domain/ports/ports.js'
import { KeyedMutex } from './keyed-mutex.js'

/** How a stream is folded; `take` may change the state that it is given. */
export interface Fold<State> {
  readonly fresh: () => State
  /** Before events are added to a state that was given out, so that it does not change for those who have it. */
  readonly copy: (state: State) => State
  readonly take: (state: State, event: RecordedEvent) => State
  readonly weightOf: (state: State) => number
}

/** A stream's state as the log has it now. */
export type KeptFolds<State> = (stream: string) => Promise<Loaded<State>>

interface Kept<State> {
  state: State
  /** The revision that is read next. */
  next: bigint
  weight: number
}

/**
 * Folds that were needed not long ago, so that a stream with a long past costs what came since. A fold is nothing but
 * the events up to a revision, which never change, and each look reads on from there: it is as good as one from the
 * beginning, whoever wrote meanwhile. What weighs more than `most` together goes, the least recently needed first;
 * the next look at it begins anew.
 */
export const keptFolds = <State>(
  { eventStore }: Pick<Ports, 'eventStore'>,
  { fresh, copy, take, weightOf }: Fold<State>,
  most: number,
): KeptFolds<State> => {
  const kept = new Map<string, Kept<State>>()
  /** Looks at a stream follow one another, so that no event is taken twice. */
  const mutex = new KeyedMutex()
  let total = 0

  const readOn = async (stream: string, one: Kept<State>): Promise<Loaded<State>> => {
    let isOwn = one.next === 0n
    for await (const event of eventStore.readStream(stream, { from: one.next })) {
      one.state = take(isOwn ? one.state : copy(one.state), event)
      one.next = event.revision + 1n
      isOwn = true
    }
    return { state: one.state, expected: one.next === 0n ? 'none' : one.next - 1n }
  }

  const drop = (stream: string): void => {
    total -= kept.get(stream)?.weight ?? 0
    kept.delete(stream)
  }

  const keep = (stream: string, one: Kept<State>): void => {
    drop(stream)
    one.weight = weightOf(one.state)
    kept.set(stream, one)
    total += one.weight
    for (const oldest of kept.keys()) {
      if (total <= most || oldest === stream) return
      drop(oldest)
    }
  }

  return async (stream) => {
    const one = kept.get(stream) ?? { state: fresh(), next: 0n, weight: 0 }
    if (!kept.has(stream)) kept.set(stream, one)
    try {
      return await mutex.runExclusive(stream, () => readOn(stream, one))
    } finally {
      if (one.next === 0n) kept.delete(stream)
      else keep(stream, one)
    }
  }
}
