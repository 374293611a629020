import * as t from 'io-ts'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import { Codec } from '../../kernel/codec/codec.js'
import { boolean, integerBetween, jsonObject, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import type { JsonObject } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import { MAX_TOKENS } from '../../domain/gateway/limits/max-tokens.js'
import { modelName } from '../../domain/prices/events.js'
import type { RequestText } from './request-text.js'

/** The op name of a completion's call. */
export const OP_NAME = 'openai.chat.completions.create'

const message = open('ChatMessage', { required: { role: string } })

/** The fields that the gateway reads; everything else is passed to the upstream. */
const read = open('ChatCompletionRequest', {
  required: { model: modelName, messages: arrayOf(message, 1) },
  optional: {
    stream: withDefault(boolean, false, true),
    stream_options: nullable(
      open('StreamOptions', { optional: { include_usage: withDefault(boolean, false, true) } }),
    ),
    n: withDefault(integerBetween(1, 128), 1, true),
    best_of: nullable(integerBetween(1, 128)),
    // Some upstreams take 0 and -1 for no limit.
    max_tokens: nullable(integerBetween(-1, MAX_TOKENS)),
    max_completion_tokens: nullable(integerBetween(-1, MAX_TOKENS)),
  },
})

type Read = t.TypeOf<typeof read>

export interface CompletionRequest extends Read {
  /** The whole request as received. */
  readonly given: JsonObject
}

/** Keeps unknown keys, which are passed to the upstream. */
export const completionRequest: Codec<CompletionRequest> = new Codec(
  read.name,
  (u): u is CompletionRequest => jsonObject.is(u) && 'given' in u && read.is(u),
  (u, context) => {
    const decoded = read.validate(u, context)
    if (decoded._tag === 'Left') return decoded
    return t.success({ given: u as JsonObject, ...decoded.right })
  },
  read.schema,
)

/** The body for an upstream: with its name of the model, and for a stream with usage where that can be requested. */
export const upstreamBody = (
  text: RequestText,
  { given, stream }: CompletionRequest,
  upstreamModel: string,
  { requestsUsage, continuousUsage }: { readonly requestsUsage: boolean; readonly continuousUsage: boolean },
): string => {
  const model = JSON.stringify(upstreamModel)
  if (!stream) return text.with({ model })
  const options = {
    ...(given['stream_options'] as JsonObject | null),
    include_usage: true,
    ...(continuousUsage ? { continuous_usage_stats: true } : {}),
  }
  return text.with({ model, stream_options: requestsUsage ? jsonText(options) : undefined })
}
