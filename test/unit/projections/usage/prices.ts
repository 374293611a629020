import fc from 'fast-check'
import { microseconds, type Instant } from '../../../../src/kernel/codec/instant.js'
import { mapCosts } from '../../../../src/domain/prices/cache-costs.js'
import type { tokenCosts } from '../../../../src/domain/prices/change.js'
import { priceContent, type PricePublished } from '../../../../src/domain/prices/events.js'
import type { ProjectedEvent } from '../../../../src/projections/projection.js'
import { arbitraryOf } from '../../../support/arbitrary-of-codec.js'
import type { Fraction, OraclePrice } from '../../../support/oracle/costs.js'
import { PROJECT } from '../../../support/oracle/given.js'
import { MODELS } from '../../../support/oracle/pools.js'

/** Those around which the calls of a case start. */
const arbitraryDate = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom('1900-01-01T00:00:00.000000Z', '2299-12-31T23:59:59.999999Z') },
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.nat(40), fc.constantFrom(1, 1000, 1_000_000))
      .map(([ticks, tick]) => startOf2025(ticks * tick)),
  },
) as fc.Arbitrary<Instant>

const startOf2025 = (microseconds: number): string => {
  const second = new Date(Date.UTC(2025, 0, 1) + Math.floor(microseconds / 1e6) * 1000).toISOString()
  return `${second.slice(0, 19)}.${String(microseconds % 1e6).padStart(6, '0')}Z`
}

const arbitraryTiers = fc.uniqueArray(
  fc
    .tuple(fc.constantFrom(128_000, 200_000, 256_000), arbitraryOf(priceContent))
    .map(([above_prompt_tokens, price]) => ({
      above_prompt_tokens,
      service_tier: null,
      ...mapCosts(price, (cost) => cost),
    })),
  { selector: ({ above_prompt_tokens }) => above_prompt_tokens, maxLength: 2 },
)

const arbitraryLife = fc.record({
  price: arbitraryOf(priceContent),
  tiers: fc.option(arbitraryTiers, { freq: 2 }),
  model: fc.constantFrom('gpt-4', 'gpt-4', 'gpt-3', ...MODELS).map((model) => model.toWellFormed()),
  effective_date: arbitraryDate,
  owner: fc.constantFrom(PROJECT, 'default', 'default', 'other'),
  /** Events of the calls that come before, of which each has three positions. */
  published: fc.oneof(fc.constant(0), fc.nat(20)),
  withdrawn: fc.option(fc.nat(20), { freq: 2 }),
})

export interface Life {
  readonly data: PricePublished
  readonly at: bigint
  readonly until: bigint | null
}

/** Prices of a project, of the default list and of the list `other`, some of which are withdrawn again. */
export const arbitraryLives = fc.array(arbitraryLife, { maxLength: 12 }).map((lives) =>
  lives.map(
    (
      { price: { tiers: _, ...price }, tiers, model, effective_date, owner, published, withdrawn },
      index,
    ): Life => {
      const ofProject = owner === PROJECT
      const data = {
        ...price,
        ...(tiers === null ? {} : { tiers }),
        llm_id: model,
        effective_date,
        id: `price-${index}`,
        project_id: ofProject ? PROJECT : null,
        list: ofProject ? null : owner,
        created_by: 'user',
        created_at: effective_date,
      }
      // one position of its own for each, so that which was given last is told
      const at = BigInt(published * 12 + index + 1)
      return { data, at, until: withdrawn === null ? null : at + BigInt(withdrawn * 12) + 1n }
    },
  ),
)

/** The events of prices, those of a project in this one. */
export const pricesOf = (projectId: string, lives: readonly Life[]): readonly ProjectedEvent[] =>
  lives.flatMap(({ data: { project_id, ...rest }, at, until }) => {
    const data = { ...rest, project_id: project_id === null ? null : projectId }
    return [
      { type: 'PricePublished', data, position: at },
      ...(until === null ? [] : [{ type: 'PriceWithdrawn', data, position: until }]),
    ]
  })

/** Those that stand at a position, under a list or, where it is null, for the project. */
export const standing = (
  lives: readonly Life[],
  list: string | null,
  position: bigint,
): readonly OraclePrice[] =>
  lives
    .filter(({ at, until }) => at <= position && (until === null || until > position))
    .filter(({ data }) => (list === null ? data.list !== 'other' : data.list === list))
    .toSorted((a, b) => Number(a.at - b.at))
    .map(({ data }) => ({
      model: data.llm_id,
      ofProject: data.project_id !== null,
      effective: microseconds(data.effective_date),
      costs: fractionsOf(data),
      tiers: (data.tiers ?? []).map((tier) => ({
        above: BigInt(tier.above_prompt_tokens),
        costs: fractionsOf(tier),
      })),
    }))

const fractionsOf = (price: Parameters<typeof tokenCosts>[0]): OraclePrice['costs'] => [
  fraction(price.prompt_token_cost),
  fraction(price.completion_token_cost),
  fraction(price.cache_read_input_token_cost),
  fraction(price.cache_creation_input_token_cost),
  fraction(price.cache_creation_1h_input_token_cost),
  fraction(price.prompt_audio_token_cost ?? price.prompt_token_cost),
  fraction(price.completion_audio_token_cost ?? price.completion_token_cost),
  fraction(price.web_search_cost ?? '0'),
  fraction(price.request_cost ?? '0'),
  fraction(price.second_cost ?? '0'),
  fraction(price.character_cost ?? '0'),
  fraction(price.image_cost ?? '0'),
]

export const fraction = (text: string): Fraction => {
  const [whole = '', decimals = ''] = text.split('.')
  return [BigInt(whole + decimals), 10n ** BigInt(decimals.length)]
}
