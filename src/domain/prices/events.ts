import type * as t from 'io-ts'
import { completedBy } from '../../kernel/codec/codec.js'
import { nullable, withDefault } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { open } from '../../kernel/codec/struct.js'
import { textLike, textUpToBytes } from '../../kernel/codec/text.js'
import { integerBetween, string } from '../../kernel/codec/leaves.js'
import type { EventOf } from '../../kernel/decider.js'
import { id, projectId } from '../../kernel/ids.js'
import { withCacheCosts } from './cache-costs.js'
import { tokenPrice } from './decimal.js'
import { extraPrices, priceTiers } from './tiers.js'

/** The name of a price list. It has no slash, so it cannot be a project's. */
export const listName = textLike(
  'price_list',
  /^[A-Za-z0-9._-]{1,128}$/,
  'String should have 1 to 128 letters, digits, dots, underscores or hyphens',
)

/** The list for models that a project has no price of its own for. */
export const DEFAULT_LIST = 'default'

const TEAMS = 'upstreams:'

/** The list of a team's own upstream prices. Requests cannot name it. */
export const teamsList = (team: string): string => `${TEAMS}${team}`

export const isTeamsList = (owner: string): boolean => owner.startsWith(TEAMS)

const anyList = textLike(
  'price_list',
  new RegExp(`^(${TEAMS})?[A-Za-z0-9._-]{1,128}$`),
  "String should be the name of a price list, or 'upstreams:' and the name of a team",
)

/** Maximum number of prices in a list. */
export const MAX_LISTED_PRICES = 10_000

export const MAX_MODEL_BYTES = 1024
export const modelName = textUpToBytes(MAX_MODEL_BYTES)
export const priceText = textUpToBytes(256)

/** A price belongs to a project or to a list. */
const owner = { project_id: nullable(projectId), list: nullable(anyList) }

const content = {
  required: {
    llm_id: modelName,
    prompt_token_cost: tokenPrice,
    completion_token_cost: tokenPrice,
    effective_date: instant,
  },
  optional: {
    cache_read_input_token_cost: withDefault(tokenPrice, undefined),
    cache_creation_input_token_cost: withDefault(tokenPrice, undefined),
    cache_creation_1h_input_token_cost: withDefault(tokenPrice, undefined),
    ...extraPrices,
    prompt_token_cost_unit: withDefault(priceText, 'USD'),
    completion_token_cost_unit: withDefault(priceText, 'USD'),
    provider_id: withDefault(priceText, 'default'),
    /** Of requests with long prompts and in tiers of service. */
    tiers: withDefault(priceTiers, undefined),
  },
}

type Stated = Parameters<typeof withCacheCosts>[0] & Readonly<Record<Absent, unknown>>
type Absent = 'tiers' | keyof typeof extraPrices
type Completed<Price extends Stated> = Omit<ReturnType<typeof withCacheCosts<Price>>, Absent> & {
  readonly [K in Absent]?: NonNullable<Price[K]>
}

/** Events of earlier releases lack some costs of the cache. What a price leaves out is no member. */
const completed = <Price extends Stated>(price: Price): Completed<Price> =>
  Object.fromEntries(
    Object.entries(withCacheCosts(price)).filter(([, value]) => value !== undefined),
  ) as Completed<Price>

/** The price of a model's tokens from a date on. */
export const priceContent = completedBy(open('PriceContent', content), completed)
export type PriceContent = t.TypeOf<typeof priceContent>

const pricePublished = completedBy(
  open('PricePublished', {
    says:
      'A price for a model was added to a project or a price list. It applies to calls started at its effective date or ' +
      'later, in reads from this position on. The cost of cached tokens defaults to that of prompt tokens, and the cost of ' +
      'one-hour cache writes to that of other cache writes. Without a cost of its own, audio costs what text does, and searches, ' +
      'requests, seconds, characters and images nothing. `tiers` are the costs of long prompts and of service tiers.',
    required: { id, ...content.required, created_at: instant },
    optional: { ...owner, ...content.optional, created_by: nullable(string) },
  }),
  completed,
)

const priceWithdrawn = open('PriceWithdrawn', {
  says: 'A price was withdrawn. Reads exclude it from this position on.',
  required: { id },
  optional: owner,
})

const priceListImported = open('PriceListImported', {
  says: 'All prices of a version of a price list have been published.',
  required: {
    list: listName,
    version: priceText,
    source: string,
    prices: integerBetween(0, MAX_LISTED_PRICES),
  },
})

export const priceEvents = {
  PricePublished: pricePublished,
  PriceWithdrawn: priceWithdrawn,
  PriceListImported: priceListImported,
}

export type PricePublished = t.TypeOf<typeof pricePublished>
export type PriceEvent = EventOf<typeof priceEvents>

export type PriceOwner =
  { readonly project_id: string; readonly list: null } | { readonly project_id: null; readonly list: string }

/** Project names have a slash, list names do not. */
export const priceStream = ({ project_id, list }: PriceOwner): string => `price-${project_id ?? list}`
