import type * as t from 'io-ts'
import { nullable } from '../../../kernel/codec/containers.js'
import { integerBetween, oneOf } from '../../../kernel/codec/leaves.js'
import { open } from '../../../kernel/codec/struct.js'
import { tokenPrice } from '../../prices/decimal.js'

/** Calendar days and months in UTC. */
export const budgetPeriod = oneOf('day', 'month')
export type BudgetPeriod = t.TypeOf<typeof budgetPeriod>

/** Maximum cost per period, in the currency of the upstreams' prices. */
export const budget = open('Budget', { required: { amount: tokenPrice, period: budgetPeriod } })
export type Budget = t.TypeOf<typeof budget>

/** Per sliding minute. */
export const rateFields = {
  requests_per_minute: nullable(integerBetween(1, 1_000_000)),
  tokens_per_minute: nullable(integerBetween(1, 1_000_000_000_000)),
  /** Completions in flight. */
  concurrency: nullable(integerBetween(1, 100_000)),
}

/** The limits of a scope; null for none. */
export const limitContent = open('LimitContent', { optional: { ...rateFields, budget: nullable(budget) } })
export type LimitContent = t.TypeOf<typeof limitContent>

export const isUnlimited = (content: LimitContent): boolean =>
  Object.values(content).every((limit) => limit === null)
