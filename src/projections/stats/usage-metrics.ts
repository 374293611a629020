import { sum, type Exact } from '../../domain/price/exact.js'
import { costsOf, type Charge } from '../usage/charges.js'
import { COUNTERS, saturated } from '../usage/own-usage.js'
import { AMOUNTS, COUNTS, type Scale } from './scale.js'

/** Counters of usage by the names that they have here. */
const COUNTER = {
  requests: 'requests',
  input_tokens: 'prompt_tokens',
  prompt_tokens: 'prompt_tokens',
  output_tokens: 'completion_tokens',
  completion_tokens: 'completion_tokens',
  total_tokens: 'total_tokens',
  cache_read_input_tokens: 'cache_read_input_tokens',
  cache_creation_input_tokens: 'cache_creation_input_tokens',
} as const satisfies Record<string, (typeof COUNTERS)[number]>

/** The places of the tokens, among those that are charged, whose costs they add. */
const CHARGED = {
  input_cost: [0, 2, 3],
  output_cost: [1],
  total_cost: [0, 1, 2, 3],
} as const

const keysOf = <K extends string>(table: Readonly<Record<K, unknown>>) => Object.keys(table) as [K, ...K[]]

export const USAGE_METRICS = [...keysOf(COUNTER), ...keysOf(CHARGED)] as const
export type UsageMetric = (typeof USAGE_METRICS)[number]

export const isCost = (metric: UsageMetric): metric is keyof typeof CHARGED => Object.hasOwn(CHARGED, metric)

/** What a metric says of a call's own usage of a model, and what this number means. */
export interface Measure extends Scale {
  readonly of: (counters: readonly number[], costs: Charge['costs']) => Exact
}

export const measureOf = (metric: UsageMetric): Measure => {
  if (isCost(metric)) {
    const kinds = CHARGED[metric]
    return {
      ...AMOUNTS,
      of: (counters, costs) => {
        const all = costsOf(counters, costs)
        return kinds.reduce<Exact>((total, kind) => sum(total, all[kind]!), 0)
      },
    }
  }
  const at = COUNTERS.indexOf(COUNTER[metric])
  return { ...COUNTS, of: (counters) => saturated(counters[at]!) }
}
