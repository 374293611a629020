import * as E from 'fp-ts/lib/Either.js'
import type { Codec } from '../../kernel/codec/codec.js'
import type { Instant } from '../../kernel/codec/instant.js'
import type { RecordedEvent } from '../../kernel/ports/event-store.js'
import { EXTRA_COSTS, type CostsOf } from './cache-costs.js'
import { priceEvents, priceStream } from './events.js'
import type { PriceTier } from './tiers.js'
import { UNIT_NAMES, UNITS } from './units.js'

/** The part of a price event that affects costs. */
export type PriceChange =
  | {
      readonly kind: 'published'
      readonly owner: string
      readonly id: string
      readonly model: string
      readonly from: Instant
      readonly costs: TokenCosts
    }
  | { readonly kind: 'withdrawn'; readonly owner: string; readonly id: string }

/**
 * Per token, in decimal digits: prompt, completion, cache read, cache creation, and cache creation for an hour; then the tiers, and
 * audio of the prompt and of the completion, and units.
 */
export type TokenCosts = readonly [
  ...texts: readonly [string, string, string, string, string],
  tiers?: readonly PriceTier[],
  ...extras: readonly string[],
]

/** What is charged, in the order of `chargedTokens`. */
export const tokenCosts = (price: CostsOf<string>) =>
  [
    price.prompt_token_cost,
    price.completion_token_cost,
    price.cache_read_input_token_cost,
    price.cache_creation_input_token_cost,
    price.cache_creation_1h_input_token_cost,
    price.prompt_audio_token_cost ?? price.prompt_token_cost,
    price.completion_audio_token_cost ?? price.completion_token_cost,
    ...UNIT_NAMES.map((unit) => price[UNITS[unit].cost] ?? '0'),
  ] as const

/** Undefined for other events, and for data that does not match its stream. */
export const priceChange = (event: RecordedEvent): PriceChange | undefined => {
  if (event.type === 'PricePublished') {
    const data = ofStream(event, priceEvents.PricePublished)
    if (data === undefined) return undefined
    const { owner, id, llm_id: model, effective_date: from, tiers } = data
    const [prompt, completion, read, creation, creation1h, ...extras] = tokenCosts(data)
    const costs = [prompt, completion, read, creation, creation1h] as const
    const isPlain = Object.values(EXTRA_COSTS).every((name) => data[name] === undefined)
    const more = isPlain ? (tiers === undefined ? [] : [tiers]) : [tiers ?? [], ...extras]
    return { kind: 'published', owner, id, model, from, costs: [...costs, ...more] as TokenCosts }
  }
  if (event.type !== 'PriceWithdrawn') return undefined
  const data = ofStream(event, priceEvents.PriceWithdrawn)
  return data && { kind: 'withdrawn', owner: data.owner, id: data.id }
}

interface Owned {
  readonly project_id: string | null
  readonly list: string | null
}

const ofStream = <A extends Owned>(
  { data, stream }: RecordedEvent,
  codec: Codec<A>,
): (A & { readonly owner: string }) | undefined => {
  const decoded = codec.decode(data)
  if (E.isLeft(decoded)) return undefined
  const owner = decoded.right.project_id ?? decoded.right.list
  return owner !== null && stream === priceStream({ project_id: null, list: owner })
    ? { ...decoded.right, owner }
    : undefined
}
