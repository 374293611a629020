import type { Loaded } from './execute.js'
import { PassingMap } from './passing.js'
import type { Position, RecordedEvent } from './ports/event-store.js'
import type { Ports } from './ports/ports.js'
import { turns } from './turns.js'

/** How a stream is folded; `take` may change the state that it is given. */
export interface Fold<State> {
  readonly fresh: () => State
  readonly take: (state: State, event: RecordedEvent) => State
  readonly weightOf: (state: State) => number
}

/** A stream's state as the log has it now. */
export type KeptFolds<State> = (stream: string) => Promise<Loaded<State>>

interface Kept<State> {
  state: State
  /** The revision that is read next. */
  next: bigint
  position: Position | undefined
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
  { fresh, take, weightOf }: Fold<State>,
  most: number,
): KeptFolds<State> => {
  const kept = new PassingMap<string, Kept<State>>()
  /** Looks at a stream follow one another, so that no event is taken twice. */
  const { inTurn } = turns()
  let total = 0

  const readOn = async (stream: string, one: Kept<State>): Promise<void> => {
    for await (const event of eventStore.readStream(stream, { from: one.next })) {
      one.state = take(one.state, event)
      one.next = event.revision + 1n
      one.position = event.position
    }
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
    const one = kept.get(stream) ?? { state: fresh(), next: 0n, position: undefined, weight: 0 }
    if (!kept.has(stream)) kept.set(stream, one)
    try {
      await inTurn(stream, () => readOn(stream, one))
    } finally {
      if (one.next === 0n) kept.delete(stream)
      else keep(stream, one)
    }
    const { state, next, position } = one
    return { state, expected: next === 0n ? 'none' : next - 1n, position }
  }
}
