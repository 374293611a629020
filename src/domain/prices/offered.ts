import type * as t from 'io-ts'
import { describedAs } from '../../kernel/codec/codec.js'
import { nullable, withDefault } from '../../kernel/codec/containers.js'
import { mapCosts, withCacheCosts } from './cache-costs.js'
import { amountOf, decimalText, tokenCost } from './decimal.js'
import { exactTiers, offeredTiers } from './offered-tiers.js'
import { forEachCost, UNITS } from './units.js'
import { priceText, type PriceContent } from './events.js'

const cacheCost = describedAs(nullable(tokenCost), { description: 'Defaults to the cost of a prompt token.' })
const unit = withDefault(priceText, 'USD', true)

/** Prices per token as JSON numbers. */
export const offeredCosts = {
  required: { prompt_token_cost: tokenCost, completion_token_cost: tokenCost },
  optional: {
    cache_read_input_token_cost: cacheCost,
    cache_creation_input_token_cost: cacheCost,
    cache_creation_1h_input_token_cost: describedAs(nullable(tokenCost), {
      description: 'Of a token that is kept for an hour. Defaults to `cache_creation_input_token_cost`.',
    }),
    prompt_audio_token_cost: describedAs(nullable(tokenCost), {
      description: 'Of a token of audio. Without it, audio is charged as text.',
    }),
    completion_audio_token_cost: describedAs(nullable(tokenCost), {
      description: 'Of a token of audio. Without it, audio is charged as text.',
    }),
    ...forEachCost((unit) =>
      describedAs(nullable(tokenCost), {
        description: `Of ${UNITS[unit].one}. Without it, ${UNITS[unit].all} are not charged.`,
      }),
    ),
    prompt_token_cost_unit: unit,
    completion_token_cost_unit: unit,
    provider_id: withDefault(priceText, 'default', true),
    tiers: nullable(offeredTiers),
  },
}

type Required = typeof offeredCosts.required
type Optional = typeof offeredCosts.optional
type OfferedCosts = { readonly [K in keyof Required]: t.TypeOf<Required[K]> } & {
  readonly [K in keyof Optional]: t.TypeOf<Optional[K]>
}

/** The Python package weave sends 0 for a cost of the cache that its user did not give. */
export const withoutPlaceholders = <Costs extends OfferedCosts>(offered: Costs): Costs => ({
  ...offered,
  cache_read_input_token_cost: offered.cache_read_input_token_cost || null,
  cache_creation_input_token_cost: offered.cache_creation_input_token_cost || null,
})

/** As exact decimals, rounded half-even to 12 places. */
export const exactCosts = (offered: OfferedCosts): Omit<PriceContent, 'llm_id' | 'effective_date'> => {
  const costs = withCacheCosts(offered)
  const tiers = exactTiers(costs, offered.tiers ?? [])
  return {
    ...mapCosts(costs, rounded),
    prompt_token_cost_unit: offered.prompt_token_cost_unit,
    completion_token_cost_unit: offered.completion_token_cost_unit,
    provider_id: offered.provider_id,
    ...(tiers.length === 0 ? {} : { tiers }),
  }
}

const rounded = (cost: number): string => decimalText(amountOf(cost))
