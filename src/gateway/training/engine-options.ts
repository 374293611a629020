import { VOCABULARY } from '../../engine/tokens.js'
import type { SamplingOptions } from '../../engine/sample.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import { didYouMean } from '../../kernel/nearest-name.js'

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
const MAX_TOKENS = 1_000_000
const MAX_TOP_LOGPROBS = 20
const MAX_BIAS = 100

interface Range {
  readonly least: number
  readonly most: number
  readonly usual: number
}

const numberIn = (body: JsonObject, name: string, { least, most, usual }: Range): number => {
  const value = body[name] ?? usual
  if (typeof value !== 'number' || !(value >= least && value <= most))
    throw new EngineRequestInvalid(name, `Input should be a number from ${least} to ${most}`)
  return value
}

export const wholeNumberIn = (body: JsonObject, name: string, range: Range): number => {
  const value = numberIn(body, name, range)
  if (!Number.isInteger(value))
    throw new EngineRequestInvalid(
      name,
      `Input should be a whole number from ${range.least} to ${range.most}`,
    )
  return value
}

/** -1 is no limit. */
const maxTokensIn = (body: JsonObject): number => {
  const name = (body['max_completion_tokens'] ?? null) === null ? 'max_tokens' : 'max_completion_tokens'
  if (body[name] === -1) return DEFAULT_TOKENS
  return wholeNumberIn(body, name, { least: 1, most: MAX_TOKENS, usual: DEFAULT_TOKENS })
}

/** -1 and 0 are all tokens. */
const topKIn = (body: JsonObject): number | null => {
  const count = wholeNumberIn(body, 'top_k', { least: -1, most: 2 ** 31, usual: -1 })
  return count <= 0 ? null : count
}

const logitBiasIn = ({ logit_bias }: JsonObject): ReadonlyMap<number, number> => {
  const given = logit_bias ?? {}
  if (!isJsonObject(given))
    throw new EngineRequestInvalid('logit_bias', 'Input should be an object with numbers by token id')
  return new Map(
    Object.entries(given).map(([token, bias]) => {
      if (!/^\d{1,9}$/.test(token) || Number(token) >= VOCABULARY)
        throw new EngineRequestInvalid('logit_bias', `Tokens have ids from 0 to ${VOCABULARY - 1}`)
      if (typeof bias !== 'number' || !(Math.abs(bias) <= MAX_BIAS))
        throw new EngineRequestInvalid(
          'logit_bias',
          `Values should be numbers from -${MAX_BIAS} to ${MAX_BIAS}`,
        )
      return [Number(token), bias]
    }),
  )
}

/** @throws EngineRequestInvalid */
export const samplingOptionsIn = (body: JsonObject, randomSeed: () => number): SamplingOptions => ({
  temperature: numberIn(body, 'temperature', { least: 0, most: 2, usual: 1 }),
  topP: numberIn(body, 'top_p', { least: 0, most: 1, usual: 1 }),
  topK: topKIn(body),
  minP: numberIn(body, 'min_p', { least: 0, most: 1, usual: 0 }),
  presencePenalty: numberIn(body, 'presence_penalty', { least: -2, most: 2, usual: 0 }),
  frequencyPenalty: numberIn(body, 'frequency_penalty', { least: -2, most: 2, usual: 0 }),
  repetitionPenalty: numberIn(body, 'repetition_penalty', { least: 0.01, most: 100, usual: 1 }),
  logitBias: logitBiasIn(body),
  topLogprobs: wholeNumberIn(body, 'top_logprobs', { least: 0, most: MAX_TOP_LOGPROBS, usual: 0 }),
  seed: wholeNumberIn(body, 'seed', { least: -(2 ** 53), most: 2 ** 53, usual: randomSeed() }),
  maxTokens: maxTokensIn(body),
})

/** Fields that the engine follows. */
const FOLLOWED = [
  ...['model', 'messages', 'n', 'stop', 'stream', 'temperature', 'top_p', 'top_k', 'min_p', 'seed'],
  ...['presence_penalty', 'frequency_penalty', 'repetition_penalty', 'logit_bias', 'top_logprobs'],
  ...['max_tokens', 'max_completion_tokens', 'return_tokens_as_token_ids'],
]

/**
 * Fields whose values change nothing that the engine does: labels of the client, settings of caches and templates, and
 * what answers have anyway. The engine never calls a tool, which `auto` leaves to the model.
 */
const WITHOUT_EFFECT = new Set([
  ...['logprobs', 'return_token_ids', 'stream_options', 'tools', 'functions', 'parallel_tool_calls'],
  ...['user', 'metadata', 'store', 'safety_identifier', 'service_tier', 'priority', 'request_id'],
  ...['prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention', 'cache_salt'],
  ...['chat_template_kwargs', 'skip_special_tokens', 'spaces_between_special_tokens'],
])

/** What other fields may be, as if they were absent. */
const DEFAULTS: Readonly<Record<string, readonly Json[]>> = {
  tool_choice: ['auto', 'none'],
  function_call: ['auto', 'none'],
  response_format: [{ type: 'text' }],
  modalities: [['text']],
  reasoning_effort: ['none'],
  verbosity: ['medium'],
  ignore_eos: [false],
  include_stop_str_in_output: [false],
  echo: [false],
  use_beam_search: [false],
  prompt_logprobs: [false],
  best_of: [1],
  min_tokens: [0],
  length_penalty: [1],
  typical_p: [1],
  stop_token_ids: [[]],
  bad_words: [[]],
}

/** Servers of Dynamo read options of their own from `nvext`; these ask for parts of the answer that clients do not need. */
const NVEXT = ['extra_fields', 'annotations']

const isGiven = (value: Json | undefined): value is Json => value !== undefined && value !== null

/** Refuses fields that the engine would ignore. @throws EngineRequestInvalid */
export const requireKnownOptions = (body: JsonObject): void => {
  for (const [name, value] of Object.entries(body)) {
    if (!isGiven(value) || FOLLOWED.includes(name) || WITHOUT_EFFECT.has(name)) continue
    if (name === 'nvext' && isJsonObject(value)) {
      const unknown = Object.keys(value).find((one) => !NVEXT.includes(one))
      if (unknown === undefined) continue
      throw new EngineRequestInvalid(`nvext.${unknown}`, 'The engine does not have this option')
    }
    const defaults = Object.hasOwn(DEFAULTS, name) ? DEFAULTS[name]! : undefined
    if (defaults?.some((one) => jsonText(one) === jsonText(value)) === true) continue
    const hint =
      defaults === undefined
        ? didYouMean(name, FOLLOWED)
        : `. Leave it out, or give it its default ${defaults.map(jsonText).join(' or ')}`
    throw new EngineRequestInvalid(name, `The engine does not have this option${hint}`)
  }
  if (isGiven(body['logprobs']) && typeof body['logprobs'] !== 'boolean')
    throw new EngineRequestInvalid('logprobs', 'Input should be a boolean: top_logprobs is the number')
}
