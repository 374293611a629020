import { isCostUnknown } from '../../domain/usage/charged.js'
import { FIGURES, reportedUsageOf } from '../../domain/usage/reported.js'
import { isJsonObject, type JsonObject } from '../../kernel/json/json.js'
import { priceAt } from '../../domain/prices/choice.js'
import { amountFrom, numberFrom } from '../../domain/prices/decimal.js'
import { DEFAULT_LIST } from '../../domain/prices/events.js'
import type { StoredCall } from '../../projections/calls/columns.js'
import { pricesOfModel, type Price, type PriceBook } from '../../projections/prices/book.js'
import { costsOf, hasChargedTokens } from '../../projections/usage/charges.js'
import { countersOf, saturated } from '../../projections/usage/own-usage.js'
import { COST_FIELDS, SHOWN_COUNTERS } from '../../projections/usage/columns.js'

export interface CallCosts {
  /** By model: what its price charges or, without a price, what the provider reported. */
  readonly costs: Readonly<Record<string, JsonObject>>
  /** The models without a price that used tokens, in order. */
  readonly unpriced: readonly string[]
  /** Whether there is usage whose total cost is known. */
  readonly isKnown: boolean
}

/** The costs of a call by its summary as written. */
export const callCosts = (
  book: PriceBook,
  { project_id, started_at }: Pick<StoredCall, 'project_id' | 'started_at'>,
  summary: JsonObject,
): CallCosts => {
  const { usage } = summary
  const costs: [string, JsonObject][] = []
  const unpriced: string[] = []
  const sources = { hasPriced: false, hasUnpriced: false, hasReported: false }
  const { models } = reportedUsageOf(summary)
  for (const { model, ...figures } of models) {
    if (!isJsonObject(usage) || !isJsonObject(usage[model])) continue
    const counters = countersOf(FIGURES.map((figure) => figures[figure]))
    const timeline = pricesOfModel(book, model)
    if (timeline !== undefined) {
      sources.hasPriced ||= hasChargedTokens(counters)
      const price = priceAt(timeline, started_at)
      costs.push([model, { ...costMembers(price, counters), ...sayingOf(price, project_id) }])
      continue
    }
    if (hasChargedTokens(counters)) unpriced.push(model)
    if (figures.reported_cost <= 0) continue
    sources.hasReported = true
    costs.push([model, costMembers(null, counters)])
  }
  sources.hasUnpriced = unpriced.length > 0
  return {
    costs: Object.fromEntries(costs),
    unpriced: unpriced.sort(),
    isKnown: models.length > 0 && !isCostUnknown(sources),
  }
}

/** The cost of all models; null if it is unknown. */
export const totalCostOf = ({ costs, isKnown }: CallCosts): number | null => {
  if (!isKnown) return null
  let sum = 0
  for (const one of Object.values(costs)) for (const field of COST_FIELDS) sum += Number(one[field] ?? 0)
  return sum
}

const costMembers = (price: Price | null, counters: readonly number[]): JsonObject => {
  const costs = costsOf(counters, price?.costs ?? null).map((cost, kind): [string, number] => [
    COST_FIELDS[kind]!,
    numberFrom(cost),
  ])
  return {
    ...Object.fromEntries(costs.filter(([field]) => (field === 'provider_cost') === (price === null))),
    ...Object.fromEntries(SHOWN_COUNTERS.map((name, k) => [name, saturated(counters[k]!)])),
  }
}

const sayingOf = ({ stored, level }: Price, projectId: string): JsonObject => ({
  prompt_token_cost: asNumber(stored.prompt_token_cost),
  completion_token_cost: asNumber(stored.completion_token_cost),
  cache_read_input_token_cost: asNumber(stored.cache_read_input_token_cost),
  cache_creation_input_token_cost: asNumber(stored.cache_creation_input_token_cost),
  prompt_token_cost_unit: stored.prompt_token_cost_unit,
  completion_token_cost_unit: stored.completion_token_cost_unit,
  effective_date: stored.effective_date,
  provider_id: stored.provider_id,
  pricing_level: level,
  pricing_level_id: level === 'project' ? projectId : DEFAULT_LIST,
  created_by: stored.created_by,
  created_at: stored.created_at,
})

const asNumber = (cost: string): number => numberFrom(amountFrom(cost))
