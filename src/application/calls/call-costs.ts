import { isCostUnknown } from '../../domain/calls/usage/charged.js'
import { usageByStart } from '../../domain/calls/usage/output-report.js'
import { pricedKindOf, unpricedMembersOf } from '../../domain/calls/usage/unpriced-members.js'
import {
  chargedKey,
  extrasOf,
  FIGURES,
  reportedUsageOf,
  type ReportedUsage,
} from '../../domain/calls/usage/reported.js'
import { opOf } from '../../domain/calls/op.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import { EXTRA_COSTS, TOKEN_COSTS } from '../../domain/prices/cache-costs.js'
import { EXTRAS } from '../../domain/prices/variant.js'
import { priceAt } from '../../domain/prices/choice.js'
import { numberFrom } from '../../domain/prices/decimal.js'
import { DEFAULT_LIST } from '../../domain/prices/events.js'
import type { StoredCall } from '../../projections/calls/columns.js'
import { pricesOfModel, type Price, type PriceBook } from '../../projections/prices/book.js'
import { costsOf, hasChargedTokens } from '../../projections/usage/charges.js'
import { countersOf, saturated } from '../../projections/usage/own-usage.js'
import { COST_FIELDS, isRareCost, SHOWN_COUNTERS } from '../../projections/usage/columns.js'

export interface CallCosts {
  /** By model: what its price charges or, without a price, what the provider reported. */
  readonly costs: Readonly<Record<string, JsonObject>>
  /** The models without a price that used tokens, in order. */
  readonly unpriced: readonly string[]
  /** By model, the members of its report that change the price and are not charged. */
  readonly uncharged: Readonly<Record<string, readonly string[]>>
  /** Whether there is usage whose total cost is known. */
  readonly isKnown: boolean
}

/** The costs of a call by its summary as written. */
export const callCosts = (
  book: PriceBook,
  { project_id, started_at }: Pick<StoredCall, 'project_id' | 'started_at'>,
  summary: JsonObject,
  known: KnownOfUsage = {},
): CallCosts => {
  const { usage } = summary
  const costs: [string, JsonObject][] = []
  const unpriced: string[] = []
  const uncharged: [string, readonly string[]][] = []
  const sources = { hasPriced: false, hasUnpriced: false, hasReported: false }
  const { models } = usageIn(summary, known)
  for (const used of models) {
    const { model } = used
    const report = isJsonObject(usage) ? usage[model] : undefined
    if (report !== undefined && !isJsonObject(report)) continue
    const counters = countersOf(FIGURES.map((figure) => used[figure]))
    const timeline = pricesOfModel(book, chargedKey({ ...used, unrecognized_usage: 0 }))
    const price = timeline && priceAt(timeline, started_at)
    const members = report === undefined ? [] : unpricedMembersOf(report)
    const kindOf = (member: string) => pricedKindOf(member, used.service_tier)
    const stated = members.map(kindOf)
    const optional = [
      ...(used.service_tier === undefined ? [] : (['service_tier'] as const)),
      ...extrasOf(used),
    ]
    const ofOutput = optional.filter((kind) => !stated.includes(kind))
    const left = [...ofOutput, ...members].filter((member) => {
      const kind = kindOf(member)
      return kind === undefined || price?.charges.includes(kind) !== true
    })
    if (left.length > 0) uncharged.push([model, left])
    if (price !== undefined) {
      sources.hasPriced ||= hasChargedTokens(counters)
      costs.push([model, { ...costMembers(price, counters), ...sayingOf(price, project_id) }])
      continue
    }
    if (hasChargedTokens(counters)) unpriced.push(model)
    if (used.reported_cost <= 0) continue
    sources.hasReported = true
    costs.push([model, costMembers(null, counters)])
  }
  sources.hasUnpriced = unpriced.length > 0
  return {
    costs: Object.fromEntries(costs),
    unpriced: unpriced.sort(),
    uncharged: Object.fromEntries(uncharged),
    isKnown: models.length > 0 && !isCostUnknown(sources),
  }
}

/** Further parts of a call that its usage depends on. */
interface KnownOfUsage {
  readonly op_name?: string
  readonly attributes?: Json
  readonly inputs?: Json
  readonly output?: Json
}

/** The parts of a stored call that its usage may be read from. Others are not parsed, since they may be large. */
export const knownOfUsage = ({ op_name, attributes, inputs, output }: StoredCall): KnownOfUsage => ({
  op_name,
  attributes: parsedIf(attributes, '"python-sdk"'),
  inputs: opOf(op_name).startsWith('cohere.') ? parsedIf(inputs, '"model"') : null,
  output: parsedIf(output, '"usage"', '"metrics"', '"meta"'),
})

const parsedIf = (text: string | null, ...members: readonly string[]): Json =>
  text !== null && members.some((member) => text.includes(member)) ? parseJson(text) : null

/** As it was read when the call ended, as far as the columns at hand tell. */
const usageIn = (
  summary: JsonObject,
  { op_name, attributes = null, inputs = null, output = null }: KnownOfUsage,
): ReportedUsage => {
  const usage = reportedUsageOf(summary, { output })
  return op_name === undefined
    ? usage
    : usageByStart({ op_name, attributes, inputs }, { summary, output }, usage)
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
    ...Object.fromEntries(costs.filter(([field, cost]) => (isRareCost(field) ? cost !== 0 : price !== null))),
    ...Object.fromEntries(SHOWN_COUNTERS.map((name, k) => [name, saturated(counters[k]!)])),
  }
}

const REQUEST = TOKEN_COSTS.indexOf('request_cost')

const sayingOf = ({ stored, level, costs, charges }: Price, projectId: string): JsonObject => ({
  prompt_token_cost: numberFrom(costs[0]),
  completion_token_cost: numberFrom(costs[1]),
  cache_read_input_token_cost: numberFrom(costs[2]),
  cache_creation_input_token_cost: numberFrom(costs[3]),
  ...Object.fromEntries(
    EXTRAS.filter((extra) => charges.includes(extra)).map((extra) => {
      const name = EXTRA_COSTS[extra]
      return [name, numberFrom(costs[TOKEN_COSTS.indexOf(name)]!)]
    }),
  ),
  ...(costs[REQUEST] === 0n ? {} : { request_cost: numberFrom(costs[REQUEST]!) }),
  prompt_token_cost_unit: stored.prompt_token_cost_unit,
  completion_token_cost_unit: stored.completion_token_cost_unit,
  effective_date: stored.effective_date,
  provider_id: stored.provider_id,
  pricing_level: level,
  pricing_level_id: level === 'project' ? projectId : DEFAULT_LIST,
  created_by: stored.created_by,
  created_at: stored.created_at,
})
