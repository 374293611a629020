import * as t from 'io-ts'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import { Codec } from '../../kernel/codec/codec.js'
import { boolean, integerBetween, jsonObject, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import type { JsonObject } from '../../kernel/json/json.js'
import { MAX_TOKENS } from '../../domain/gateway/limits/max-tokens.js'
import { modelName } from '../../domain/prices/events.js'

/** What the gateway reads of every request. */
export interface ReadRequest {
  readonly model: string
  readonly stream: boolean
  /** The whole request as received. */
  readonly given: JsonObject
}

/** Keeps unknown keys, which are passed to the upstream. */
const keepingAll = <A extends { readonly model: string; readonly stream?: boolean }, O>(
  read: Codec<A, O>,
): Codec<ReadRequest> =>
  new Codec(
    read.name,
    (u): u is ReadRequest => jsonObject.is(u) && 'given' in u && read.is(u),
    (u, context) => {
      const decoded = read.validate(u, context)
      if (decoded._tag === 'Left') return decoded
      const { model, stream = false } = decoded.right
      return t.success({ given: u as JsonObject, model, stream })
    },
    read.schema,
  )

const stream = withDefault(boolean, false, true)
const streamOptions = nullable(
  open('StreamOptions', { optional: { include_usage: withDefault(boolean, false, true) } }),
)
/** Some upstreams take 0 and -1 for no limit. */
const length = nullable(integerBetween(-1, MAX_TOKENS))
const choices = {
  n: withDefault(integerBetween(1, 128), 1, true),
  best_of: nullable(integerBetween(1, 128)),
  max_tokens: length,
}

const message = open('ChatMessage', { required: { role: string } })

export const chatRequest = keepingAll(
  open('ChatCompletionRequest', {
    required: { model: modelName, messages: arrayOf(message, 1) },
    optional: { stream, stream_options: streamOptions, ...choices, max_completion_tokens: length },
  }),
)

export const completionRequest = keepingAll(
  open('CompletionRequest', {
    required: { model: modelName },
    optional: { stream, stream_options: streamOptions, ...choices },
  }),
)

export const responseRequest = keepingAll(
  open('ResponseRequest', {
    required: { model: modelName },
    optional: { stream, max_output_tokens: length },
  }),
)

export const messageRequest = keepingAll(
  open('MessageRequest', {
    required: { model: modelName, max_tokens: integerBetween(0, MAX_TOKENS), messages: arrayOf(message, 1) },
    optional: { stream },
  }),
)

export const tokenCountRequest = keepingAll(
  open('TokenCountRequest', { required: { model: modelName, messages: arrayOf(message, 1) } }),
)

/** Of embeddings, moderations and rankings. */
export const listRequest = keepingAll(open('ModelRequest', { required: { model: modelName } }))
