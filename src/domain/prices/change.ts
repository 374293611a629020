import * as E from 'fp-ts/lib/Either.js'
import type { Codec } from '../../kernel/codec/codec.js'
import type { Instant } from '../../kernel/codec/instant.js'
import type { RecordedEvent } from '../../kernel/ports/event-store.js'
import { priceEvents, priceStream } from './events.js'
import type { PriceTier } from './tiers.js'

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

/** Per token, in decimal digits: prompt, completion, cache read, cache creation, and cache creation for an hour; then the tiers. */
export type TokenCosts = readonly [string, string, string, string, string, (readonly PriceTier[])?]

/** The costs of a token, without tiers. */
export const tokenCosts = (price: Omit<PriceTier, 'above_prompt_tokens' | 'service_tier'>) =>
  [
    price.prompt_token_cost,
    price.completion_token_cost,
    price.cache_read_input_token_cost,
    price.cache_creation_input_token_cost,
    price.cache_creation_1h_input_token_cost,
  ] as const

/** Undefined for other events, and for data that does not match its stream. */
export const priceChange = (event: RecordedEvent): PriceChange | undefined => {
  if (event.type === 'PricePublished') {
    const data = ofStream(event, priceEvents.PricePublished)
    return (
      data && {
        kind: 'published',
        owner: data.owner,
        id: data.id,
        model: data.llm_id,
        from: data.effective_date,
        costs: data.tiers === undefined ? tokenCosts(data) : [...tokenCosts(data), data.tiers],
      }
    )
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
