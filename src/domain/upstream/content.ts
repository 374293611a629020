import type * as t from 'io-ts'
import { completedBy } from '../codec/codec.js'
import { arrayOf, nullable, withDefault } from '../codec/containers.js'
import { boolean, integerBetween } from '../codec/leaves.js'
import { open } from '../codec/struct.js'
import { textUpToBytes } from '../codec/text.js'
import { id, teamName } from '../ids.js'
import { modelName } from '../price/events.js'
import { withCacheCosts } from '../price/cache-costs.js'
import { tokenPrice } from '../price/decimal.js'
import { secretName } from '../webhook/events.js'

const HOUR_MS = 3_600_000

/** How long each step of a completion may take, in milliseconds. */
export const timeouts = open('UpstreamTimeouts', {
  optional: {
    connect_ms: withDefault(integerBetween(1, 60_000), 5000),
    /** To the head of the answer; whole answers come with their head. */
    first_byte_ms: withDefault(integerBetween(1, HOUR_MS), 300_000),
    /** Between two pieces of an answer. */
    idle_ms: withDefault(integerBetween(1, HOUR_MS), 120_000),
    total_ms: withDefault(integerBetween(1, HOUR_MS), 1_200_000),
  },
})
export type Timeouts = t.TypeOf<typeof timeouts>

/** What a token costs the operator, in decimal digits. */
export const modelPrice = completedBy(
  open('UpstreamModelPrice', {
    says: 'Token prices. A cached token without its own price costs as much as a prompt token.',
    required: { prompt_token_cost: tokenPrice, completion_token_cost: tokenPrice },
    optional: {
      cache_read_input_token_cost: withDefault(tokenPrice, undefined),
      cache_creation_input_token_cost: withDefault(tokenPrice, undefined),
    },
  }),
  withCacheCosts,
)
export type ModelPrice = t.TypeOf<typeof modelPrice>

export const servedModel = open('UpstreamModel', {
  says: 'A model: `id` is its name for clients, `upstream_id` its name at the upstream.',
  required: { id: modelName, upstream_id: modelName },
  optional: {
    aliases: withDefault<readonly string[], readonly string[]>(arrayOf(modelName), []),
    price: nullable(modelPrice),
    /** Requests for it that the upstream may have under way at once. */
    concurrency: nullable(integerBetween(1, 100_000)),
  },
})
export type ServedModel = t.TypeOf<typeof servedModel>

/** An upstream that speaks the chat-completion format under its `base_url`, which ends in `/v1` for most. */
export const upstreamFields = {
  required: { name: id, base_url: textUpToBytes(2048), models: arrayOf(servedModel, 1) },
  optional: {
    /** The secret of the team whose value is sent as the bearer. */
    secret: nullable(secretName),
    timeouts: withDefault(timeouts, {
      connect_ms: 5000,
      first_byte_ms: 300_000,
      idle_ms: 120_000,
      total_ms: 1_200_000,
    }),
    /** Its share among the upstreams of a model; 0 is asked only when the others fail. */
    weight: withDefault(integerBetween(0, 1000), 1),
    /** Whether it can say what was used so far in each piece of a stream. */
    continuous_usage_stats: withDefault(boolean, false),
    /** Whether `GET {base_url}/models` is asked now and then, to see that it can be reached. */
    probe: withDefault(boolean, false),
    enabled: withDefault(boolean, true),
  },
}

export const upstreamContent = open('UpstreamContent', upstreamFields)
export type UpstreamContent = t.TypeOf<typeof upstreamContent>

/** Null: the operator's, which every team may use. */
export const owner = nullable(teamName)
