import { isCostUnknown } from '../../domain/calls/usage/charged.js'
import { decimalText } from '../../domain/prices/decimal.js'
import { sum, type Exact } from '../../domain/prices/exact.js'
import type { AnsweredCall } from '../../projections/usage/answer.js'
import { costsOf, hasChargedTokens } from '../../projections/usage/charges.js'
import { COUNTERS, valuesOf } from '../../projections/usage/columns.js'
import { saturated } from '../../projections/usage/own-usage.js'

export interface UsageSums {
  readonly models: readonly string[]
  readonly tokens: number
  readonly cost: number
  /** Whether there are tokens of a model without a price, which `cost` lacks. */
  readonly unpriced: boolean
}

export const TOKENS = ['total_tokens', 'prompt_tokens', 'completion_tokens'] as const
const PLACES = TOKENS.map((name) => COUNTERS.indexOf(name))

/** An amount in units of 10^-12 as the nearest double. */
export const costNumber = (cost: Exact): number => (cost === 0 ? 0 : Number(decimalText(BigInt(cost))))

/** Adds up the usage of calls, each with its descendants, of all models together. */
export const usageSummer = () => {
  const models = new Set<string>()
  const tokens = valuesOf(TOKENS, 0)
  let cost: Exact = 0
  const sources = { hasPriced: false, hasUnpriced: false, hasReported: false }
  return {
    add: ({ usage, charges }: AnsweredCall): void => {
      for (const [key, counters] of usage) {
        const { model, costs } = charges[key]!
        models.add(model)
        for (const [n, name] of TOKENS.entries()) tokens[name] += counters[PLACES[n]!]!
        const before = cost
        for (const one of costsOf(counters, costs)) cost = sum(cost, one)
        const isCharged = hasChargedTokens(counters)
        sources.hasPriced ||= costs !== null && isCharged
        sources.hasUnpriced ||= costs === null && isCharged
        sources.hasReported ||= costs === null && cost !== before
      }
    },
    sums: () => ({
      models: [...models],
      tokens: Object.fromEntries(TOKENS.map((name) => [name, saturated(tokens[name])])) as typeof tokens,
      cost: costNumber(cost),
      unpriced: sources.hasUnpriced,
      isCostUnknown: isCostUnknown(sources),
    }),
  }
}

/** The usage of a call and its descendants, of all models together. */
export const usageSums = (call: AnsweredCall): UsageSums => {
  const summer = usageSummer()
  summer.add(call)
  const { models, tokens, cost, unpriced } = summer.sums()
  return { models, tokens: tokens.total_tokens, cost, unpriced }
}
