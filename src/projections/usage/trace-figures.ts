import type { UsageReporting } from '../../domain/projects/project.js'
import { sum, type Exact } from '../../domain/prices/exact.js'
import { yielding } from '../../kernel/yield-to-event-loop.js'
import type { PriceBook } from '../prices/book.js'
import { chargesOf, costsOf, hasChargedTokens } from './charges.js'
import { COUNTERS } from './columns.js'
import { livingForest } from './inclusive-usage.js'
import { ownUsage, saturated } from './own-usage.js'
import type { TraceCalls } from './trace.js'

/** Tokens and costs of the calls of a trace, by their index; costs in units of 10^-12. */
export interface TraceFigures {
  readonly ownTokens: Float64Array
  /** Including all descendants. */
  readonly tokens: Float64Array
  readonly ownCosts: readonly Exact[]
  readonly costs: readonly Exact[]
  /** 1 if the call itself used tokens of a model without a price. */
  readonly isOwnUnpriced: Uint8Array
  /** 1 if the call or a descendant did. */
  readonly isUnpriced: Uint8Array
}

const WIDTH = COUNTERS.length
const TOKENS = COUNTERS.indexOf('total_tokens')

/** Sums that agree with those of `inclusiveUsage`, for all calls of a trace in one pass. */
export const traceFigures = async (
  calls: TraceCalls,
  reporting: UsageReporting,
  book: PriceBook,
): Promise<TraceFigures> => {
  const pause = yielding()
  const size = calls.ids.length
  const own = await ownUsage(calls, reporting)
  const { charges, keyOf } = chargesOf({ started: calls.started, models: own.models }, book)
  const ownTokens = new Float64Array(size)
  const ownCosts: Exact[] = new Array<Exact>(size).fill(0)
  const isOwnUnpriced = new Uint8Array(size)
  for (let call = 0; call < size; call += 1) {
    if (call % 64 === 0) await pause()
    for (let entry = own.offsets[call]!; entry < own.offsets[call + 1]!; entry += 1) {
      const counters = own.values.slice(entry * WIDTH, (entry + 1) * WIDTH)
      const rates = charges[keyOf(call, own.model[entry]!)]!.costs
      ownTokens[call]! += counters[TOKENS]!
      for (const cost of costsOf(counters, rates)) ownCosts[call] = sum(ownCosts[call]!, cost)
      if (rates === null && hasChargedTokens(counters)) isOwnUnpriced[call] = 1
    }
  }
  const { node, parent, order } = livingForest(calls)
  await pause()
  const tokens = new Float64Array(size)
  const costs: Exact[] = new Array<Exact>(size).fill(0)
  const isUnpriced = new Uint8Array(size)
  const add = (to: number, more: number, cost: Exact, unpriced: number) => {
    tokens[to]! += more
    costs[to] = sum(costs[to]!, cost)
    isUnpriced[to]! |= unpriced
  }
  for (let call = 0; call < size; call += 1)
    add(node[call]!, ownTokens[call]!, ownCosts[call]!, isOwnUnpriced[call]!)
  for (const at of order) {
    const above = parent[at]!
    if (above >= 0) add(above, tokens[at]!, costs[at]!, isUnpriced[at]!)
  }
  for (let call = 0; call < size; call += 1) {
    const of = node[call]!
    if (of !== call) add(call, tokens[of]!, costs[of]!, isUnpriced[of]!)
    ownTokens[call] = saturated(ownTokens[call]!)
  }
  return { ownTokens, tokens: tokens.map(saturated), ownCosts, costs, isOwnUnpriced, isUnpriced }
}
