import { microseconds } from '../../kernel/codec/instant.js'
import { REPORTED_UNIT } from '../../domain/calls/usage/charged.js'
import { exact, product, sum, type Exact } from '../../domain/prices/exact.js'
import { modelOf } from '../../domain/prices/variant.js'
import { pricesOfModel, type Price, type PriceBook } from '../prices/book.js'
import { CHARGED, COSTS, COUNTERS, USED } from './columns.js'
import { saturated } from './own-usage.js'
import { YEAR_2100, type TraceCalls } from './trace.js'

const CHARGED_PLACES = CHARGED.map(({ counter }) => COUNTERS.indexOf(counter))
const USED_PLACES = USED.map((counter) => COUNTERS.indexOf(counter))
const COST_PLACES = CHARGED.map(({ cost }) => COSTS.indexOf(cost))
const REPORTED_PLACE = COUNTERS.indexOf('reported_cost')
const UNRECOGNIZED_PLACE = COUNTERS.indexOf('unrecognized_usage')
const PROVIDER_PLACE = COSTS.indexOf('provider_cost')

/** A model at one of its prices. Usage that is charged differently is summed apart. */
export interface Charge {
  readonly model: string
  /** The model with the variant of its usage. */
  readonly variant: string
  /** From when on it applies, like `TraceCalls.started`. */
  readonly from: number
  /** Of a token, in the order of `CHARGED`; null if the model has no price. */
  readonly costs: readonly Exact[] | null
  readonly price: Price | null
}

export interface Charges {
  readonly charges: readonly Charge[]
  /** The index of the charge that applies to a call. */
  readonly keyOf: (call: number, model: number) => number
}

/** The price of each call for each of its models, by its start. Without a price book, a charge per model. */
export const chargesOf = (
  { started, models }: Pick<TraceCalls, 'started' | 'models'>,
  book: PriceBook | null,
): Charges => {
  if (book === null) {
    const names = models.map(modelOf)
    const last = new Map(names.map((name, index) => [name, index]))
    return {
      charges: names.map((model) => ({ model, variant: model, from: -Infinity, costs: null, price: null })),
      keyOf: (_call, model) => last.get(names[model]!)!,
    }
  }
  const charges: Charge[] = []
  const stepsOf = models.map((variant): readonly Step[] => {
    const timeline = pricesOfModel(book, variant)
    const model = modelOf(variant)
    const add = (from: number, price: Price | null): Step => {
      const costs = price === null ? null : price.costs.map(exact)
      return { from, key: charges.push({ model, variant, from, costs, price }) - 1 }
    }
    if (timeline === undefined) return [add(-Infinity, null)]
    return [
      add(-Infinity, timeline.first),
      ...timeline.steps.map(({ from, price }) => add(since2100(from), price)),
    ]
  })
  const keyOf = (call: number, model: number): number => {
    const steps = stepsOf[model]!
    let [low, high] = [0, steps.length - 1]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (steps[middle]!.from <= started[call]!) low = middle
      else high = middle - 1
    }
    return steps[low]!.key
  }
  return { charges, keyOf }
}

interface Step {
  readonly from: number
  readonly key: number
}

/** Like `TraceCalls.started`. */
const since2100 = (instant: Parameters<typeof microseconds>[0]): number =>
  Number(microseconds(instant) - YEAR_2100)

/** Usage as answers show it: a tier of service that the price knows is understood. */
export const shownCounters = (counters: readonly number[], { price }: Charge): readonly number[] =>
  price?.isUnderstood === true
    ? counters.map((counter, place) => (place === UNRECOGNIZED_PLACE ? 0 : counter))
    : counters

/** Whether there are tokens that a price would charge. */
export const hasChargedTokens = (counters: readonly number[]): boolean =>
  USED_PLACES.some((place) => counters[place] !== 0)

/**
 * What usage costs, in the order of `COSTS`, in units of 10^-12. Without a price it costs what the providers reported, and
 * what its tokens cost is unknown.
 */
export const costsOf = (counters: readonly number[], rates: Charge['costs']): readonly Exact[] => {
  const costs: Exact[] = COSTS.map(() => 0)
  if (rates === null) costs[PROVIDER_PLACE] = product(saturated(counters[REPORTED_PLACE]!), REPORTED_UNIT)
  else
    for (const [kind, rate] of rates.entries()) {
      const place = COST_PLACES[kind]!
      costs[place] = sum(costs[place]!, product(saturated(counters[CHARGED_PLACES[kind]!]!), rate))
    }
  return costs
}

export const addCosts = (a: readonly Exact[], b: readonly Exact[]): readonly Exact[] =>
  a.map((cost, kind) => sum(cost, b[kind]!))
