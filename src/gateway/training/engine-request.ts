import { roleProblem, textOf } from '../../domain/training/sft-data.js'
import { promptTokens, type ChatMessage } from '../../engine/tokens.js'
import type { SamplingOptions } from '../../engine/sample.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import {
  EngineRequestInvalid,
  requireKnownOptions,
  samplingOptionsIn,
  wholeNumberIn,
} from './engine-options.js'

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

/** In characters, far above the context of any model of the engine. Longer prompts are not turned into tokens. */
const MAX_PROMPT = 100_000
const MAX_STOPS = 16

const messagesIn = (messages: Json | undefined): readonly ChatMessage[] =>
  (Array.isArray(messages) ? (messages as readonly Json[]) : []).map((message, at) => {
    const content = isJsonObject(message) ? textOf(message) : undefined
    if (!isJsonObject(message) || typeof message['role'] !== 'string' || content === undefined)
      throw new EngineRequestInvalid(`messages.${at}`, 'The model reads messages with a role and text')
    const problem = roleProblem(message['role'])
    if (problem !== undefined) throw new EngineRequestInvalid(`messages.${at}.role`, problem)
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

/** @throws EngineRequestInvalid */
export const engineRequestIn = (body: JsonObject, randomSeed: () => number): EngineRequest => {
  requireKnownOptions(body)
  return {
    model: typeof body['model'] === 'string' ? body['model'] : '',
    prompt: promptOf(messagesIn(body['messages'])),
    options: samplingOptionsIn(body, randomSeed),
    choices: wholeNumberIn(body, 'n', { least: 1, most: 128, usual: 1 }),
    stop: stopsIn(body['stop']),
    stream: body['stream'] === true,
    tokensAsIds: body['return_tokens_as_token_ids'] === true,
  }
}
