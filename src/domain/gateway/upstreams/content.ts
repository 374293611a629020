import type * as t from 'io-ts'
import { completedBy } from '../../../kernel/codec/codec.js'
import { arrayOf, nullable, recordOf, withDefault } from '../../../kernel/codec/containers.js'
import { boolean, integerBetween, oneOf } from '../../../kernel/codec/leaves.js'
import { closed, open } from '../../../kernel/codec/struct.js'
import { textUpToBytes } from '../../../kernel/codec/text.js'
import { id, teamName } from '../../../kernel/ids.js'
import { modelName } from '../../prices/events.js'
import { mapCosts, withCacheCosts } from '../../prices/cache-costs.js'
import { tokenPrice } from '../../prices/decimal.js'
import { exactTiers, upstreamTiers } from '../../prices/offered-tiers.js'
import { extraPrices } from '../../prices/tiers.js'
import { secretName } from '../../secrets/secret.js'
import { APIS } from './apis.js'

const HOUR_MS = 3_600_000

/** Time-outs of the phases of a completion, in milliseconds. */
export const timeouts = open('UpstreamTimeouts', {
  optional: {
    connect_ms: withDefault(integerBetween(1, 60_000), 5000),
    /** From the request to the first part of the answer: content, not heads, comments or blanks. */
    first_byte_ms: withDefault(integerBetween(1, HOUR_MS), 300_000),
    /** Between two parts. */
    idle_ms: withDefault(integerBetween(1, HOUR_MS), 120_000),
    total_ms: withDefault(integerBetween(1, HOUR_MS), 1_200_000),
  },
})
export type Timeouts = t.TypeOf<typeof timeouts>

/** Price per token, in decimal digits. */
const priceFields = {
  says:
    'Prices as in a price list. A cached token without its own price costs as much as a prompt token, and audio as much as ' +
    'text.',
  required: { prompt_token_cost: tokenPrice, completion_token_cost: tokenPrice },
  optional: {
    cache_read_input_token_cost: withDefault(tokenPrice, undefined),
    cache_creation_input_token_cost: withDefault(tokenPrice, undefined),
    cache_creation_1h_input_token_cost: withDefault(tokenPrice, undefined),
    ...extraPrices,
    tiers: nullable(upstreamTiers),
  },
}
const statedPrice = open('UpstreamModelPrice', priceFields)

const completed = ({ tiers, ...costs }: t.TypeOf<typeof statedPrice>) => {
  const stated = mapCosts(withCacheCosts(costs), (cost) => cost)
  const exact = exactTiers(stated, tiers ?? [])
  return { ...stated, ...(exact.length === 0 ? {} : { tiers: exact }) }
}

export const modelPrice = completedBy(statedPrice, completed)
export type ModelPrice = t.TypeOf<typeof modelPrice>

const modelFields = {
  says:
    'A model: `id` is its name for clients, `upstream_id` its name at the upstream. `checkpoint_id` is the name at the upstream of a ' +
    'checkpoint that was trained from it, with the variables `${entity}`, `${project}`, `${model}` and `${step}`.',
  required: { id: modelName, upstream_id: modelName },
  optional: {
    aliases: withDefault(arrayOf(modelName), [] as readonly string[]),
    checkpoint_id: nullable(modelName),
    price: nullable(modelPrice),
    /** Maximum number of concurrent requests to the upstream for this model. */
    concurrency: nullable(integerBetween(1, 100_000)),
  },
}

export const servedModel = open('UpstreamModel', modelFields)

/** As in requests: a misplaced price would be ignored otherwise, and the model have none. */
export const newServedModel = closed('NewUpstreamModel', {
  ...modelFields,
  optional: {
    ...modelFields.optional,
    price: nullable(completedBy(closed('NewUpstreamModelPrice', priceFields), completed)),
  },
})
export type ServedModel = t.TypeOf<typeof servedModel>

/** An upstream with an OpenAI-compatible API under `base_url`, which usually ends in `/v1`. */
export const upstreamFields = {
  required: { name: id, base_url: textUpToBytes(2048), models: arrayOf(servedModel, 1) },
  optional: {
    /** Name of the team secret that is sent as the bearer token. */
    secret: nullable(secretName),
    timeouts: withDefault(timeouts, {
      connect_ms: 5000,
      first_byte_ms: 300_000,
      idle_ms: 120_000,
      total_ms: 1_200_000,
    }),
    /** Share of the traffic among a model's upstreams; 0 is only a fallback. */
    weight: withDefault(integerBetween(0, 1000), 1),
    /** Whether it can report intermediate usage in each chunk of a stream. */
    continuous_usage_stats: withDefault(boolean, false),
    /** Sent with each request. `$NAME` is a secret of the team; in the operator's file, a variable of the environment. */
    headers: nullable(recordOf(textUpToBytes(4096))),
    /** Added to the address of each request, with secrets as in `headers`. */
    query: nullable(recordOf(textUpToBytes(4096))),
    /** Whether it accepts `stream_options`, by which usage is requested. */
    stream_options: withDefault(boolean, true),
    /** Without effect: upstreams were probed in earlier releases. */
    probe: withDefault(boolean, false),
    enabled: withDefault(boolean, true),
    /** What it speaks; by default all but `responses` and `messages`, which are then translated to `chat`. */
    apis: nullable(arrayOf(oneOf(...APIS), 1)),
    /** Whether a translation may leave out fields that change the answer. The record of the call names them. */
    drop_untranslatable: withDefault(boolean, false),
  },
}

export const upstreamContent = open('UpstreamContent', upstreamFields)
export type UpstreamContent = t.TypeOf<typeof upstreamContent>

/** Null for the operator's upstreams, which every team may use. */
export const owner = nullable(teamName)
