import { decimalText } from '../../domain/prices/decimal.js'
import { sum, type Exact } from '../../domain/prices/exact.js'
import type { AnsweredCall } from '../../projections/usage/answer.js'
import { costsOf, hasChargedTokens } from '../../projections/usage/charges.js'
import { COUNTERS } from '../../projections/usage/columns.js'
import { saturated } from '../../projections/usage/own-usage.js'

export interface UsageSums {
  readonly models: readonly string[]
  readonly tokens: number
  readonly cost: number
  /** Whether there are tokens of a model without a price, which `cost` lacks. */
  readonly unpriced: boolean
}

const TOKENS = COUNTERS.indexOf('total_tokens')

/** An amount in units of 10^-12 as the nearest double. */
export const costNumber = (cost: Exact): number => (cost === 0 ? 0 : Number(decimalText(BigInt(cost))))

/** The usage of a call and its descendants, of all models together. */
export const usageSums = ({ usage, charges }: AnsweredCall): UsageSums => {
  const models = new Set<string>()
  let tokens = 0
  let cost: Exact = 0
  let unpriced = false
  for (const [key, counters] of usage) {
    const { model, costs } = charges[key]!
    models.add(model)
    tokens += counters[TOKENS]!
    for (const one of costsOf(counters, costs)) cost = sum(cost, one)
    unpriced ||= costs === null && hasChargedTokens(counters)
  }
  return { models: [...models], tokens: saturated(tokens), cost: costNumber(cost), unpriced }
}
