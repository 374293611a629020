import { completedBy } from '../../kernel/codec/codec.js'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import { oneOf, wholeNumber } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import type * as t from 'io-ts'
import { SERVICE_TIERS, type UsageVariant } from './variant.js'
import { mapCosts } from './cache-costs.js'
import { tokenPrice } from './decimal.js'
import { forEachCost } from './units.js'

/** Of audio and units: see `EXTRA_COSTS`. */
export const extraPrices = {
  prompt_audio_token_cost: withDefault(tokenPrice, undefined),
  completion_audio_token_cost: withDefault(tokenPrice, undefined),
  ...forEachCost(() => withDefault(tokenPrice, undefined)),
}

const openTier = open('PriceTier', {
  says:
    'What a token costs in requests with more prompt tokens than a number, in a tier of service or, where that is null, in ' +
    'standard requests.',
  required: {
    above_prompt_tokens: wholeNumber,
    service_tier: nullable(oneOf(...SERVICE_TIERS)),
    prompt_token_cost: tokenPrice,
    completion_token_cost: tokenPrice,
    cache_read_input_token_cost: tokenPrice,
    cache_creation_input_token_cost: tokenPrice,
    cache_creation_1h_input_token_cost: tokenPrice,
  },
  optional: extraPrices,
})

/** A tier has no members for costs that it leaves out. */
const priceTier = completedBy(openTier, ({ above_prompt_tokens, service_tier, ...costs }) => ({
  above_prompt_tokens,
  service_tier,
  ...mapCosts(costs, (cost) => cost),
}))

export type PriceTier = t.TypeOf<typeof priceTier>
export const priceTiers = arrayOf(priceTier)

/**
 * The tier of a price that charges usage: of its service tier, or of standard requests where the price does not know it, the one
 * of the largest prompt. Undefined where the price itself applies.
 */
export const tierOf = (
  tiers: readonly PriceTier[],
  { above, tier }: Pick<UsageVariant, 'above' | 'tier'>,
): PriceTier | undefined => {
  const within = (service: PriceTier['service_tier']): PriceTier | undefined => {
    const some = tiers.filter((one) => one.service_tier === service && one.above_prompt_tokens <= above)
    return some.sort((a, b) => b.above_prompt_tokens - a.above_prompt_tokens)[0]
  }
  return (tier === null ? undefined : within(tier)) ?? within(null)
}
