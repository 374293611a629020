import * as t from 'io-ts'
import { arrayOf, nullable, withDefault } from '../codec/containers.js'
import { Codec, refuse } from '../codec/codec.js'
import { endlessNumberIn } from '../codec/finite.js'
import { boolean, integerBetween, jsonObject, string } from '../codec/leaves.js'
import { open } from '../codec/struct.js'
import { withDigitsOf } from '../json/digits.js'
import type { JsonObject } from '../json/json.js'
import { modelName } from '../price/events.js'

/** Of an answer; more cannot be asked for. */
export const MOST_TOKENS = 2 ** 31

/** What a completion is called as a call. */
export const OP_NAME = 'openai.chat.completions.create'

const message = open('ChatMessage', { required: { role: string } })

/** What is read of a request here; everything else is the upstream's affair. */
const read = open('ChatCompletionRequest', {
  required: { model: modelName, messages: arrayOf(message, 1) },
  optional: {
    stream: withDefault(boolean, false, true),
    stream_options: nullable(
      open('StreamOptions', { optional: { include_usage: withDefault(boolean, false, true) } }),
    ),
    n: withDefault(integerBetween(1, 128), 1, true),
    best_of: nullable(integerBetween(1, 128)),
    max_tokens: nullable(integerBetween(1, MOST_TOKENS)),
    max_completion_tokens: nullable(integerBetween(1, MOST_TOKENS)),
  },
})

type Read = t.TypeOf<typeof read>

export interface CompletionRequest extends Read {
  /** The request as it came, every key of it. */
  readonly given: JsonObject
}

/** A chat-completion request of which nothing is lost: unknown keys go to the upstream too. */
export const completionRequest: Codec<CompletionRequest> = new Codec(
  read.name,
  (u): u is CompletionRequest => jsonObject.is(u) && 'given' in u && read.is(u),
  (u, context) => {
    const decoded = read.validate(u, context)
    if (decoded._tag === 'Left') return decoded
    const given = u as JsonObject
    const endless = endlessNumberIn(given, context)
    return endless === undefined
      ? t.success({ given, ...decoded.right })
      : refuse(undefined, endless, 'finite_number', 'Input should be a finite number')
  },
  read.schema,
)

/** What is asked of the upstream in its place: its own name of the model, and always the usage of a stream. */
export const askedOf = (
  { given, stream }: CompletionRequest,
  upstreamModel: string,
  continuousUsage: boolean,
): JsonObject =>
  withDigitsOf(given, {
    ...given,
    model: upstreamModel,
    ...(stream
      ? {
          stream_options: {
            ...(given['stream_options'] as JsonObject | null),
            include_usage: true,
            ...(continuousUsage ? { continuous_usage_stats: true } : {}),
          },
        }
      : {}),
  })
