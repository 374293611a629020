import { FIGURES, reportedUsageOf } from '../../domain/calls/usage.js'
import { isJsonObject, type JsonObject } from '../../kernel/json/json.js'
import { priceAt } from '../../domain/prices/choice.js'
import { amountFrom, numberFrom } from '../../domain/prices/decimal.js'
import { DEFAULT_LIST } from '../../domain/prices/events.js'
import type { StoredCall } from '../../projections/calls/columns.js'
import type { Price, PriceBook } from '../../projections/prices/book.js'
import { costsOf } from '../../projections/usage/charges.js'
import { countersOf, saturated } from '../../projections/usage/own-usage.js'
import { COST_FIELDS, SHOWN_COUNTERS } from '../../projections/usage/columns.js'

/** The costs of a call by its summary as written, for each model with a price; undefined if none has one. */
export const callCosts = (
  { timelines }: PriceBook,
  { project_id, started_at }: Pick<StoredCall, 'project_id' | 'started_at'>,
  summary: JsonObject,
): JsonObject | undefined => {
  const { usage } = summary
  const costs = reportedUsageOf(summary).models.flatMap(({ model, ...figures }): [string, JsonObject][] => {
    const timeline = timelines.get(model)
    if (timeline === undefined || !isJsonObject(usage) || !isJsonObject(usage[model])) return []
    const price = priceAt(timeline, started_at)
    const counters = countersOf(FIGURES.map((figure) => figures[figure]))
    return [[model, { ...costMembers(price, counters), ...sayingOf(price, project_id) }]]
  })
  return costs.length === 0 ? undefined : Object.fromEntries(costs)
}

const costMembers = ({ costs }: Price, counters: readonly number[]): JsonObject => ({
  ...Object.fromEntries(costsOf(counters, costs).map((cost, kind) => [COST_FIELDS[kind]!, numberFrom(cost)])),
  ...Object.fromEntries(SHOWN_COUNTERS.map((name, k) => [name, saturated(counters[k]!)])),
})

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
