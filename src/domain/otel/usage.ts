import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { clamp, costOf } from '../calls/usage/figure.js'
import { readingOf } from '../calls/usage/reading.js'
import { firstOf, objectOf, parsed, textOf } from './attributes.js'

type Figure =
  | 'prompt'
  | 'completion'
  | 'total'
  | 'cacheRead'
  | 'cacheWrite'
  | 'reasoning'
  | 'promptAudio'
  | 'completionAudio'

type Figures = { readonly [F in Figure]?: number | undefined }

/** The attributes of each figure, the first that is a count. Two names of one figure are never added. */
const NAMES: Readonly<Record<Figure, readonly string[]>> = {
  prompt: [
    'gen_ai.usage.input_tokens',
    'llm.token_count.prompt',
    'ai.usage.inputTokens',
    'gen_ai.usage.prompt_tokens',
    'ai.usage.promptTokens',
    'ai.usage.tokens',
  ],
  completion: [
    'gen_ai.usage.output_tokens',
    'llm.token_count.completion',
    'ai.usage.outputTokens',
    'gen_ai.usage.completion_tokens',
    'ai.usage.completionTokens',
  ],
  total: [
    'gen_ai.usage.total_tokens',
    'llm.usage.total_tokens',
    'llm.token_count.total',
    'ai.usage.totalTokens',
  ],
  cacheRead: [
    'gen_ai.usage.cache_read.input_tokens',
    'gen_ai.usage.cache_read_input_tokens',
    'llm.token_count.prompt_details.cache_read',
    'ai.usage.cachedInputTokens',
    'ai.usage.inputTokenDetails.cacheReadTokens',
    'gen_ai.usage.details.cache_read_tokens',
  ],
  cacheWrite: [
    'gen_ai.usage.cache_write.input_tokens',
    'gen_ai.usage.cache_creation.input_tokens',
    'gen_ai.usage.cache_creation_input_tokens',
    'llm.token_count.prompt_details.cache_write',
    'ai.usage.inputTokenDetails.cacheWriteTokens',
    'gen_ai.usage.details.cache_write_tokens',
  ],
  reasoning: [
    'gen_ai.usage.reasoning.output_tokens',
    'gen_ai.usage.reasoning_tokens',
    'llm.usage.reasoning_tokens',
    'llm.token_count.completion_details.reasoning',
    'ai.usage.reasoningTokens',
    'ai.usage.outputTokenDetails.reasoningTokens',
    'gen_ai.usage.details.reasoning_tokens',
  ],
  promptAudio: ['llm.token_count.prompt_details.audio', 'gen_ai.usage.details.input_audio_tokens'],
  completionAudio: ['llm.token_count.completion_details.audio', 'gen_ai.usage.details.output_audio_tokens'],
}

const FIGURES = Object.keys(NAMES) as readonly Figure[]

/** A whole number of at least 0, also as a double or a text. */
export const countOf = (value: Json | undefined): number | undefined => {
  const count = typeof value === 'string' && COUNT.test(value) ? Number(value) : value
  return typeof count === 'number' && count >= 0 ? clamp(count) : undefined
}

const COUNT = /^\s*\d{1,20}(?:\.\d{0,20})?\s*$/

/** Of a report as JSON that counts the prompt as providers do. */
const ofReport = (report: JsonObject | undefined): Figures => {
  if (report === undefined) return {}
  const { prompt, completion, ...reading } = readingOf(report)
  const present = (count: number) => (count === 0 ? undefined : count)
  return {
    prompt,
    completion,
    total: present(reading.total),
    cacheRead: present(reading.cacheRead),
    cacheWrite: present(reading.cacheCreation),
    reasoning: firstOf(COMPLETION_DETAILS, ([part, name]) => countOf(objectOf(report[part])?.[name])),
    promptAudio: present(reading.extras.prompt_audio_tokens),
    completionAudio: present(reading.extras.completion_audio_tokens),
  }
}

const COMPLETION_DETAILS = [
  ['completion_tokens_details', 'reasoning_tokens'],
  ['output_tokens_details', 'reasoning_tokens'],
  ['output_token_details', 'reasoning'],
] as const

/** Langfuse counts what was cached apart from `input`, unless it passes on the report of a provider. */
const langfuse = (report: JsonObject | undefined): Figures => {
  const input = report && countOf(report['input'])
  if (report === undefined || input === undefined) return ofReport(report)
  const of = (...names: readonly string[]) => firstOf(names, (name) => countOf(report[name]))
  const cacheRead = of('cache_read_input_tokens', 'input_cached_tokens', 'input_cache_read')
  const cacheWrite = of('cache_creation_input_tokens', 'input_cache_creation')
  return {
    prompt: input + (cacheRead ?? 0) + (cacheWrite ?? 0),
    completion: of('output'),
    total: of('total'),
    cacheRead,
    cacheWrite,
    reasoning: of('output_reasoning_tokens', 'reasoning_tokens'),
  }
}

/** Claude Code counts what was cached apart. */
const bare = (attributes: JsonObject): Figures => {
  const input = countOf(attributes['input_tokens'])
  const cacheRead = countOf(attributes['cache_read_tokens'])
  const cacheWrite = countOf(attributes['cache_creation_tokens'])
  return {
    prompt: input === undefined ? undefined : input + (cacheRead ?? 0) + (cacheWrite ?? 0),
    completion: countOf(attributes['output_tokens']),
    cacheRead,
    cacheWrite,
  }
}

/** LangSmith writes details as Python does. */
const details = (attributes: JsonObject): Figures => {
  const of = (name: string): JsonObject => {
    const text = attributes[name]
    const value = typeof text === 'string' ? parsed(text.replaceAll("'", '"')) : text
    return isJsonObject(value) ? value : {}
  }
  const input = of('gen_ai.usage.input_token_details')
  const output = of('gen_ai.usage.output_token_details')
  return {
    cacheRead: countOf(input['cache_read']),
    cacheWrite: countOf(input['cache_creation']),
    promptAudio: countOf(input['audio']),
    reasoning: countOf(output['reasoning']),
    completionAudio: countOf(output['audio']),
  }
}

const named = (attributes: JsonObject): Figures => {
  const figures: { [F in Figure]?: number | undefined } = {}
  for (const figure of FIGURES) figures[figure] = firstOf(NAMES[figure], (name) => countOf(attributes[name]))
  return figures
}

/** Each figure is that of the first convention that reports it. */
const CONVENTIONS: readonly ((attributes: JsonObject) => Figures)[] = [
  (attributes) => langfuse(objectOf(attributes['langfuse.observation.usage_details'])),
  named,
  details,
  (attributes) => ofReport(objectOf(attributes['langsmith.metadata.usage_metadata'])),
  (attributes) => ofReport(objectOf(attributes['mlflow.chat.tokenUsage'])),
  bare,
]

const figuresOf = (attributes: JsonObject): Figures => {
  const reports = CONVENTIONS.map((read) => read(attributes))
  const figures: { [F in Figure]?: number | undefined } = {}
  for (const figure of FIGURES) figures[figure] = firstOf(reports, (report) => report[figure])
  return figures
}

/**
 * Tokens of the cache that are more than the prompt, or that the total has besides it, are added to it; and reasoning to the
 * completion by the same rule.
 */
const inclusive = (figures: Figures): Figures => {
  const { prompt = 0, completion = 0, total = 0, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = figures
  const cached = cacheRead + cacheWrite
  const beyond = total - prompt - completion
  const isBeyond = (count: number) => count > 0 && (beyond === count || beyond === cached + reasoning)
  const whole = prompt + (cached > prompt || isBeyond(cached) ? cached : 0)
  const answer = completion + (reasoning > completion || isBeyond(reasoning) ? reasoning : 0)
  const sum = figures.prompt === undefined || figures.completion === undefined ? total : whole + answer
  return {
    ...figures,
    prompt: figures.prompt === undefined && cached === 0 ? undefined : clamp(whole),
    completion: figures.completion === undefined && reasoning === 0 ? undefined : clamp(answer),
    total: sum === 0 && figures.total === undefined ? undefined : clamp(Math.max(total, sum)),
  }
}

const amountOf = (value: Json | undefined): number | undefined =>
  value === undefined || isJsonObject(value) || costOf(value) === undefined ? undefined : Number(value)

const sumOf = (amounts: readonly (Json | undefined)[]): number | undefined => {
  const known = amounts.map(amountOf).filter((amount) => amount !== undefined)
  return known.length === 0 ? undefined : known.reduce((sum, amount) => sum + amount, 0)
}

const ofItems = (costs: JsonObject | undefined): number | undefined =>
  costs && (amountOf(costs['total']) ?? amountOf(costs['total_cost']) ?? sumOf(Object.values(costs)))

/** The cost that the client reports. */
const costIn = (attributes: JsonObject): number | undefined =>
  ofItems(objectOf(attributes['langfuse.observation.cost_details'])) ??
  amountOf(attributes['gen_ai.usage.cost']) ??
  amountOf(attributes['llm.cost.total']) ??
  sumOf([attributes['llm.cost.prompt'], attributes['llm.cost.completion']]) ??
  ofItems(objectOf(attributes['mlflow.llm.cost'])) ??
  amountOf(attributes['operation.cost'])

/** An entry of `summary.usage`, in names of which `readingOf` takes the prompt as one with the cache. */
export const usageOf = (attributes: JsonObject): JsonObject | null => {
  if (textOf(attributes['gen_ai.operation.name']) === 'fetch_response') return null
  const figures = inclusive(figuresOf(attributes))
  const cost = costIn(attributes)
  if (cost === undefined && FIGURES.every((figure) => figures[figure] === undefined)) return null
  const { prompt, completion, total, cacheRead, cacheWrite, reasoning } = figures
  const { promptAudio = 0, completionAudio = 0 } = figures
  return {
    requests: 1,
    ...(prompt !== undefined && { prompt_tokens: prompt }),
    ...(completion !== undefined && { completion_tokens: completion }),
    ...(total !== undefined && { total_tokens: total }),
    ...(cacheRead !== undefined && { cache_read_input_tokens: cacheRead }),
    ...(cacheWrite !== undefined && { cache_creation_input_tokens: cacheWrite }),
    ...(promptAudio > 0 && { prompt_tokens_details: { audio_tokens: promptAudio } }),
    ...((reasoning !== undefined || completionAudio > 0) && {
      completion_tokens_details: {
        ...(reasoning !== undefined && { reasoning_tokens: reasoning }),
        ...(completionAudio > 0 && { audio_tokens: completionAudio }),
      },
    }),
    ...(cost !== undefined && { cost }),
  }
}
