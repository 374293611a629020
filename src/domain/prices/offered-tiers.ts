import * as E from 'fp-ts/lib/Either.js'
import type * as t from 'io-ts'
import { Codec, describedAs, leaf, refuse } from '../../kernel/codec/codec.js'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import { oneOf } from '../../kernel/codec/leaves.js'
import { closed } from '../../kernel/codec/struct.js'
import { PROMPT_SIZES, SERVICE_TIERS } from '../usage/variant.js'
import { TOKEN_COSTS, withCacheCosts } from './cache-costs.js'
import { amountOf, decimalText, times, tokenCost, type Amount } from './decimal.js'
import type { PriceTier } from './tiers.js'

const SIZES: readonly number[] = PROMPT_SIZES
const promptSize = leaf<number>(
  'prompt size',
  (u): u is number => typeof u === 'number' && SIZES.includes(u),
  { type: 'literal_error', msg: `Input should be one of ${SIZES.join(', ')}` },
  { type: 'integer', enum: SIZES },
)

const cost = nullable(tokenCost)

const offeredTier = closed('OfferedTier', {
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
  },
})
type OfferedTier = t.TypeOf<typeof offeredTier>

const tierList = arrayOf(offeredTier)

/** The tiers of a price, each at most once. */
export const offeredTiers = describedAs(
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

type Costs = Readonly<Record<(typeof TOKEN_COSTS)[number], Amount>>

const costsOf = (amount: (name: (typeof TOKEN_COSTS)[number]) => Amount): Costs =>
  Object.fromEntries(TOKEN_COSTS.map((name) => [name, amount(name)])) as Costs

/** Each tier with its own exact costs. The factor of a service tier also applies to the sizes above its own. */
export const exactTiers = (
  base: Readonly<Record<(typeof TOKEN_COSTS)[number], number>>,
  offered: readonly OfferedTier[],
): readonly PriceTier[] => {
  const scaled = (costs: Costs, factor: number) => costsOf((name) => times(costs[name], factor))
  const stated = (tier: OfferedTier): Costs => {
    const costs = withCacheCosts(tier)
    return costsOf((name) => amountOf(costs[name] ?? 0))
  }
  const standard: Costs = costsOf((name) => amountOf(base[name]))
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
      ...(Object.fromEntries(TOKEN_COSTS.map((name) => [name, decimalText(costs[name])])) as Record<
        (typeof TOKEN_COSTS)[number],
        string
      >),
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

const byPromptSize = (a: OfferedTier, b: OfferedTier): number => a.above_prompt_tokens - b.above_prompt_tokens
