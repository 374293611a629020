import * as E from 'fp-ts/lib/Either.js'
import type * as t from 'io-ts'
import { Codec, describedAs, leaf, refuse } from '../../kernel/codec/codec.js'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import { oneOf } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { PROMPT_SIZES, SERVICE_TIERS } from './variant.js'
import { mapCosts, TOKEN_COSTS, withCacheCosts, type CostsOf } from './cache-costs.js'
import { amountFrom, amountOf, decimalText, times, tokenCost, tokenPrice, type Amount } from './decimal.js'
import { forEachCost, UNITS } from './units.js'
import type { PriceTier } from './tiers.js'

/** 0 is any size. */
const SIZES: readonly number[] = [0, ...PROMPT_SIZES]
const promptSize = leaf<number>(
  'prompt size',
  (u): u is number => typeof u === 'number' && SIZES.includes(u),
  { type: 'literal_error', msg: `Input should be one of ${SIZES.join(', ')}` },
  { type: 'integer', enum: SIZES },
)

/** A number, or decimal digits, as answers have them. */
const cost = nullable(
  new Codec<number | string>(
    'cost',
    (u): u is number | string => tokenCost.is(u) || tokenPrice.is(u),
    (u, context) => (typeof u === 'string' ? tokenPrice : tokenCost).validate(u, context),
    { anyOf: [tokenCost.schema, tokenPrice.schema] },
  ),
)

const tierFields = {
  says:
    'What tokens cost in requests whose prompt has more tokens than `above_prompt_tokens`, cached ones included, or in a tier of ' +
    'service: a `factor` of the costs of other requests, or costs of its own.',
  optional: {
    above_prompt_tokens: withDefault(promptSize, 0, true),
    service_tier: nullable(oneOf(...SERVICE_TIERS)),
    factor: nullable(tokenCost),
    prompt_token_cost: cost,
    completion_token_cost: cost,
    cache_read_input_token_cost: cost,
    cache_creation_input_token_cost: cost,
    cache_creation_1h_input_token_cost: cost,
    prompt_audio_token_cost: cost,
    completion_audio_token_cost: cost,
    ...forEachCost(() => cost),
  },
}
const offeredTier = closed('OfferedTier', tierFields)
type OfferedTier = t.TypeOf<typeof offeredTier>

/** The tiers of a price, each at most once. */
const tiersOf = (tier: Codec<OfferedTier>) => {
  const tierList = arrayOf(tier)
  return describedAs(
    new Codec<readonly OfferedTier[]>(
      tierList.name,
      (u): u is readonly OfferedTier[] => tierList.is(u) && problemOf(u) === undefined,
      (u, context) =>
        E.chain((tiers: readonly OfferedTier[]) => {
          const problem = problemOf(tiers)
          return problem === undefined ? E.right(tiers) : refuse(u, context, 'value_error', problem)
        })(tierList.validate(u, context)),
      tierList.schema,
    ),
    { description: 'Costs of requests with long prompts and in tiers of service.' },
  )
}

export const offeredTiers = tiersOf(offeredTier)
/** In events too, so later members are tolerated. */
export const upstreamTiers = tiersOf(open('UpstreamTier', tierFields))

const problemOf = (tiers: readonly OfferedTier[]): string | undefined => {
  const seen = new Set<string>()
  for (const tier of tiers) {
    const key = `${tier.service_tier} ${tier.above_prompt_tokens}`
    const stated = TOKEN_COSTS.filter((name) => tier[name] !== null).length
    const hasCosts = tier.prompt_token_cost !== null && tier.completion_token_cost !== null
    if (tier.service_tier === null && tier.above_prompt_tokens === 0)
      return 'Value error, a tier should have above_prompt_tokens, service_tier, or both'
    if (tier.factor === null ? !hasCosts : stated > 0)
      return 'Value error, a tier should have either a factor, or prompt_token_cost and completion_token_cost'
    if (seen.has(key)) return 'Value error, two tiers have the same above_prompt_tokens and service_tier'
    seen.add(key)
  }
  return undefined
}

type Costs = CostsOf<Amount>
type Cost = number | string

const exactCost = (cost: Cost): Amount => (typeof cost === 'string' ? amountFrom(cost) : amountOf(cost))

/**
 * Each tier with its own exact costs. The factor of a service tier also applies to the sizes above its own. Flat
 * units cost the same in each tier, and a tier that states no cost of a unit has that of the price.
 */
export const exactTiers = (
  base: Parameters<typeof mapCosts<Cost, Amount>>[0],
  offered: readonly OfferedTier[],
): readonly PriceTier[] => {
  const standard: Costs = mapCosts(base, exactCost)
  const scaled = (costs: Costs, factor: number): Costs =>
    mapCosts(costs, (cost, name) => (SAME_IN_TIERS.includes(name) ? cost : times(cost, factor)))
  const stated = (tier: OfferedTier): Costs =>
    mapCosts(
      withCacheCosts({ ...tier, ...forEachCost((unit) => tier[UNITS[unit].cost] ?? base[UNITS[unit].cost]) }),
      exactCost,
    )
  const sizes = offered
    .filter(({ service_tier }) => service_tier === null)
    .map((tier) => ({
      above: tier.above_prompt_tokens,
      costs: tier.factor === null ? stated(tier) : scaled(standard, tier.factor),
    }))
    .sort((a, b) => a.above - b.above)
  const found = new Map<string, PriceTier>()
  const add = (above: number, service: PriceTier['service_tier'], costs: Costs) =>
    found.set(`${service} ${above}`, {
      above_prompt_tokens: above,
      service_tier: service,
      ...mapCosts(costs, decimalText),
    })
  for (const { above, costs } of sizes) add(above, null, costs)
  const ofService = offered.filter(({ service_tier }) => service_tier !== null)
  for (const { service_tier, above_prompt_tokens: least, factor } of ofService.toSorted(byPromptSize)) {
    if (factor === null) continue
    const at = sizes.findLast(({ above }) => above <= least)?.costs ?? standard
    add(least, service_tier, scaled(at, factor))
    for (const { above, costs } of sizes) if (above > least) add(above, service_tier, scaled(costs, factor))
  }
  for (const tier of ofService)
    if (tier.factor === null) add(tier.above_prompt_tokens, tier.service_tier, stated(tier))
  return [...found.values()]
}

const SAME_IN_TIERS: readonly string[] = Object.values(UNITS).flatMap(({ cost, isFlat }) =>
  isFlat ? [cost] : [],
)

const byPromptSize = (a: OfferedTier, b: OfferedTier): number => a.above_prompt_tokens - b.above_prompt_tokens
