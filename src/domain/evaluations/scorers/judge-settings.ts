import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { Codec, leaf, refuse } from '../../../kernel/codec/codec.js'
import { arrayOf, nullable, withDefault } from '../../../kernel/codec/containers.js'
import { boolean, integerBetween, jsonObject, number, oneOf, string } from '../../../kernel/codec/leaves.js'
import { open } from '../../../kernel/codec/struct.js'
import { isJsonObject, type Json, type JsonObject } from '../../../kernel/json/json.js'
import { parseRef } from '../../refs/ref.js'
import { decoded } from './decoded.js'

/** SDKs store a nested object as a reference to it, the web page of a scorer writes it in place. */
export type Nested<A> =
  { readonly kind: 'ref'; readonly ref: string } | { readonly kind: 'inline'; readonly value: A }

const isObjectRef = (u: unknown): u is string => typeof u === 'string' && parseRef(u)?.kind === 'object'

const objectRef = leaf<string>(
  'ref',
  isObjectRef,
  { type: 'value_error', msg: 'Input should be a reference to an object' },
  { type: 'string' },
)

const nested = <A>(codec: Codec<A>): Codec<Nested<A>> =>
  new Codec<Nested<A>>(
    codec.name,
    (u): u is Nested<A> => isJsonObject(u) && (u['kind'] === 'ref' || u['kind'] === 'inline'),
    (u, c) =>
      isObjectRef(u)
        ? t.success<Nested<A>>({ kind: 'ref', ref: u })
        : typeof u === 'string'
          ? refuse(u, c, 'value_error', 'Input should be an object or a reference to one')
          : E.map((value: A): Nested<A> => ({ kind: 'inline', value }))(codec.validate(u, c)),
    { anyOf: [{ type: 'string' }, codec.schema] },
  )

/** A chat message whose texts may contain `{variables}`; fields such as `name` pass unchanged. */
export type Message = JsonObject & { readonly role: string }

const isMessage = (u: unknown): u is Message => {
  if (!isJsonObject(u) || !string.is(u['role'])) return false
  const content = u['content']
  return (
    content === undefined ||
    content === null ||
    string.is(content) ||
    (Array.isArray(content) && content.every(isJsonObject))
  )
}

const message = leaf<Message>(
  'message',
  isMessage,
  {
    type: 'value_error',
    msg: 'Input should be a message with a role, and text or a list of parts as content',
  },
  { type: 'object' },
)

const messagesPrompt = open('MessagesPrompt', { required: { messages: arrayOf(message, 1) } })

const params = open('LLMStructuredCompletionModelDefaultParams', {
  optional: {
    /** Templates of the messages that come first; `prompt` takes precedence over it. */
    messages_template: nullable(arrayOf(message)),
    /** Reference of a MessagesPrompt. */
    prompt: nullable(objectRef),
    temperature: nullable(number),
    top_p: nullable(number),
    max_tokens: nullable(integerBetween(1, 2 ** 31 - 1)),
    presence_penalty: nullable(number),
    frequency_penalty: nullable(number),
    stop: nullable(arrayOf(string)),
    /** `n` of the chat completion. */
    n_times: nullable(integerBetween(1, 128)),
    functions: nullable(arrayOf(jsonObject)),
    response_format: nullable(oneOf('json_object', 'json_schema', 'text')),
  },
})

const judgeModel = open('LLMStructuredCompletionModel', {
  required: {
    /** `<provider>/<model>`, or the reference of a provider model. */
    llm_model_id: string,
  },
  optional: { default_params: nullable(params) },
})

export type JudgeModel = t.TypeOf<typeof judgeModel>
export type MessagesPrompt = t.TypeOf<typeof messagesPrompt>

export type ScoringPrompt = { readonly kind: 'text'; readonly text: string } | Nested<MessagesPrompt>

const nestedPrompt = nested(messagesPrompt)

/** A text template, which becomes the one message of the user; or a MessagesPrompt. */
const scoringPrompt = new Codec<ScoringPrompt>(
  'scoring_prompt',
  (u): u is ScoringPrompt => nestedPrompt.is(u) || (isJsonObject(u) && u['kind'] === 'text'),
  (u, c) =>
    string.is(u) && !isObjectRef(u)
      ? t.success<ScoringPrompt>({ kind: 'text', text: u })
      : nestedPrompt.validate(u, c),
  { anyOf: [{ type: 'string' }, messagesPrompt.schema] },
)

const flag = withDefault(boolean, false, true)

export const judgeSettings = open('LLMAsAJudgeScorer', {
  required: { model: nested(judgeModel), scoring_prompt: scoringPrompt },
  optional: {
    enable_image_input_scoring: flag,
    enable_audio_input_scoring: flag,
    enable_video_input_scoring: flag,
    media_scoring_json_paths: nullable(arrayOf(string)),
  },
})

/** Decodes the object that a reference of `model` leads to. */
export const decodeJudgeModel = (val: Json): E.Either<string, JudgeModel> =>
  decoded(judgeModel, val, [judgeModel.name])

/** Decodes the object that a reference of `scoring_prompt` or `default_params.prompt` leads to. */
export const decodeMessagesPrompt = (val: Json): E.Either<string, MessagesPrompt> =>
  decoded(messagesPrompt, val, [messagesPrompt.name])
