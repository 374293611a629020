import { product, sum, type Exact } from '../../domain/price/exact.js'
import type { Charge } from '../usage/billing.js'
import { COUNTERS } from '../usage/fold.js'
import type { OwnEntry } from '../usage/own-entries.js'
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

/** What a metric says of one entry, and what this number means. */
export interface Measure extends Scale {
  readonly of: (entry: OwnEntry, costs: Charge['costs']) => Exact
}

export const measureOf = (metric: UsageMetric): Measure => {
  if (isCost(metric)) {
    const kinds = CHARGED[metric]
    return { ...AMOUNTS, of: ({ tokens }, costs) => (costs === null ? 0 : charged(kinds, tokens, costs)) }
  }
  const at = COUNTERS.indexOf(COUNTER[metric])
  return { ...COUNTS, of: ({ counters }) => counters[at]! }
}

const charged = (
  kinds: readonly (0 | 1 | 2 | 3)[],
  tokens: OwnEntry['tokens'],
  costs: NonNullable<Charge['costs']>,
): Exact => {
  let all: Exact = 0
  for (const kind of kinds) all = sum(all, product(tokens[kind]!, costs[kind]))
  return all
}
