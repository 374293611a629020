import { microseconds } from '../../domain/codec/instant.js'
import { exact, type Exact } from '../../domain/price/exact.js'
import type { Price, PriceBook } from '../prices/book.js'
import { billedCounting, type Counting } from './fold.js'
import type { Counters, Inclusive } from './inclusive.js'
import type { TraceColumns } from './trace-columns.js'

/** Tokens that are charged, with all descendants, summed apart for each price: nothing is rounded or added up yet. */
export interface Billed {
  readonly inclusive: Inclusive<Counters>
  /** What the keys of `inclusive` mean, ascending by model. */
  readonly charges: readonly Charge[]
}

export interface Charge {
  readonly model: number
  /** Of a token of prompt, completion, cache reading and cache creation; null where the model has no price. */
  readonly costs: readonly [Exact, Exact, Exact, Exact] | null
}

export interface Charging {
  readonly counting: Counting
  readonly charges: readonly Charge[]
}

/** Which price each call is charged for each of its models, by when it started. */
export const chargingOf = (
  { started, reported: { models } }: Pick<TraceColumns, 'started' | 'reported'>,
  { timelines }: PriceBook,
): Charging => {
  const charges: Charge[] = []
  const turns = models.map((name, model): readonly Turn[] => {
    const timeline = timelines.get(name)
    if (timeline === undefined) return [{ from: -Infinity, key: charges.push({ model, costs: null }) - 1 }]
    const keys = new Map<Price, number>()
    const keyOf = (price: Price): number => {
      const known = keys.get(price)
      if (known !== undefined) return known
      const key = charges.push({ model, costs: price.costs.map(exact) as unknown as Charge['costs'] }) - 1
      keys.set(price, key)
      return key
    }
    return [
      { from: -Infinity, key: keyOf(timeline.first) },
      ...timeline.steps.map(({ from, price }) => ({ from: since2100(from), key: keyOf(price) })),
    ]
  })
  const keyOf: Counting['keyOf'] = (call, model) => {
    const ofModel = turns[model]!
    let at = ofModel.length - 1
    while (at > 0 && ofModel[at]!.from > started[call]!) at -= 1
    return ofModel[at]!.key
  }
  return { counting: billedCounting(keyOf), charges }
}

interface Turn {
  readonly from: number
  readonly key: number
}

const YEAR_2100 = 4_102_444_800_000_000n

/** Microseconds since 2100, as the columns of a trace count them. */
const since2100 = (instant: Parameters<typeof microseconds>[0]): number =>
  Number(microseconds(instant) - YEAR_2100)
