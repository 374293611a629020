import { textOf } from '../../domain/training/sft-data.js'
import { promptTokens, type ChatMessage } from '../../engine/tokens.js'
import type { SamplingOptions } from '../../engine/sample.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'

/** A request for a completion, as the engine understands it. */
export interface EngineRequest {
  readonly model: string
  readonly prompt: readonly number[]
  readonly options: SamplingOptions
  readonly choices: number
  /** Texts that end a choice, and are not part of it. */
  readonly stop: readonly string[]
  readonly stream: boolean
  /** Whether tokens of log probabilities are `token_id:<n>`. */
  readonly tokensAsIds: boolean
}

/** A request that the engine cannot answer: the name of the field, and why. */
export class EngineRequestInvalid extends Error {
  override readonly name = 'EngineRequestInvalid'
  constructor(
    readonly param: string,
    message: string,
  ) {
    super(`${param}: ${message}`)
  }
}

const DEFAULT_TOKENS = 4096
/** In characters, far above the context of any model of the engine. Longer prompts are not turned into tokens. */
const MAX_PROMPT = 100_000
const MAX_STOPS = 16

const numberIn = (body: JsonObject, name: string, least: number, most: number, usual: number): number => {
  const value = body[name] ?? usual
  if (typeof value !== 'number' || !(value >= least && value <= most))
    throw new EngineRequestInvalid(name, `Input should be a number from ${least} to ${most}`)
  return value
}

const messagesIn = (messages: Json | undefined): readonly ChatMessage[] =>
  (Array.isArray(messages) ? (messages as readonly Json[]) : []).map((message, at) => {
    const content = isJsonObject(message) ? textOf(message) : undefined
    if (!isJsonObject(message) || typeof message['role'] !== 'string' || content === undefined)
      throw new EngineRequestInvalid(`messages.${at}`, 'The model reads messages with a role and text')
    return { role: message['role'], content }
  })

const stopsIn = (stop: Json | undefined): readonly string[] => {
  const list =
    stop === null || stop === undefined ? [] : Array.isArray(stop) ? (stop as readonly Json[]) : [stop]
  if (list.length > MAX_STOPS || !list.every((one) => typeof one === 'string'))
    throw new EngineRequestInvalid('stop', `Input should be a text, or at most ${MAX_STOPS} texts`)
  return list.filter((one) => one !== '')
}

const promptOf = (messages: readonly ChatMessage[]): readonly number[] => {
  const length = messages.reduce((sum, { role, content }) => sum + role.length + content.length + 1, 0)
  if (length > MAX_PROMPT)
    throw new EngineRequestInvalid('messages', 'The prompt is longer than the context of the model')
  return promptTokens(messages)
}

/** 0 and -1 are no limit. */
const lengthIn = (body: JsonObject): Json => {
  const length = body['max_completion_tokens'] ?? body['max_tokens'] ?? null
  return length === 0 || length === -1 ? null : length
}

/** @throws EngineRequestInvalid */
export const engineRequestIn = (body: JsonObject, randomSeed: () => number): EngineRequest => ({
  model: typeof body['model'] === 'string' ? body['model'] : '',
  prompt: promptOf(messagesIn(body['messages'])),
  options: {
    temperature: numberIn(body, 'temperature', 0, 2, 1),
    topP: numberIn(body, 'top_p', 0, 1, 1),
    seed: Math.trunc(numberIn(body, 'seed', -(2 ** 53), 2 ** 53, randomSeed())),
    maxTokens: Math.trunc(
      numberIn({ max_tokens: lengthIn(body) }, 'max_tokens', 1, 1_000_000, DEFAULT_TOKENS),
    ),
  },
  choices: Math.trunc(numberIn(body, 'n', 1, 128, 1)),
  stop: stopsIn(body['stop']),
  stream: body['stream'] === true,
  tokensAsIds: body['return_tokens_as_token_ids'] === true,
})
