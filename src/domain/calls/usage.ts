import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import type * as t from 'io-ts'
import { integerBetween, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { LARGEST_EXACT } from '../prices/exact.js'

/** The figures of a model's usage, in storage order. */
export const FIGURES = [
  'requests',
  'prompt_tokens',
  'input_tokens',
  'completion_tokens',
  'output_tokens',
  'total_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
] as const

export type Figure = (typeof FIGURES)[number]

const whole = integerBetween(-LARGEST_EXACT, LARGEST_EXACT)
const figure = withDefault(whole, 0)

/** One model's figures as the client sent them; an absent figure is 0. */
export const modelUsage = open('ModelUsage', {
  required: { model: string },
  optional: {
    requests: figure,
    prompt_tokens: figure,
    input_tokens: figure,
    completion_tokens: figure,
    output_tokens: figure,
    total_tokens: figure,
    cache_read_input_tokens: figure,
    cache_creation_input_tokens: figure,
  },
})
export type ModelUsage = t.TypeOf<typeof modelUsage>

/** The usage reported by a call's end, normalised once so that no reader parses the summary again. */
export const reportedUsage = open('ReportedUsage', {
  required: { models: arrayOf(modelUsage) },
  optional: {
    /** The sum of `summary.status_counts`; null without status counts. */
    status_total: nullable(whole),
  },
})
export type ReportedUsage = t.TypeOf<typeof reportedUsage>

const clamp = (value: number): number =>
  Math.min(LARGEST_EXACT, Math.max(-LARGEST_EXACT, Math.trunc(value))) + 0

/** Parsed by hand: a backtracking pattern over megabytes of digits overflows the stack. */
const integerIn = (text: string): number => {
  const digits = text.trim().replace(/^[+-]/, '')
  return digits === '' || /[^0-9]/.test(digits) ? 0 : clamp(Number(text))
}

/**
 * A figure as the original service reads it: numbers are truncated, true is 1, a string counts if it is a sign and
 * digits with optional whitespace around; anything else is 0. Clamped to ±2^53.
 */
export const figureOf = (value: Json | undefined): number => {
  if (typeof value === 'number') return clamp(value)
  if (value === true) return 1
  return typeof value === 'string' ? integerIn(value) : 0
}

/** Paths under which providers and proxies report cached tokens. */
const CACHE_READ = [
  ['cache_read_input_tokens'],
  ['prompt_tokens_details', 'cached_tokens'],
  ['input_tokens_details', 'cached_tokens'],
  ['cacheReadInputTokens'],
  ['prompt_cache_hit_tokens'],
] as const
const CACHE_CREATION = [
  ['cache_creation_input_tokens'],
  ['cache_write_input_tokens'],
  ['prompt_tokens_details', 'cache_creation_tokens'],
  ['prompt_tokens_details', 'cache_write_tokens'],
  ['cacheWriteInputTokens'],
] as const

/** The first path that has a figure. The names are synonyms, so they are not added up. */
const firstFigure = (usage: JsonObject, paths: readonly (readonly [string, string?])[]): number => {
  for (const [name, member] of paths) {
    const value = usage[name]
    const figure = figureOf(member === undefined ? value : isJsonObject(value) ? value[member] : undefined)
    if (figure !== 0) return figure
  }
  return 0
}

export const cacheFiguresOf = (
  usage: JsonObject,
): Pick<ModelUsage, 'cache_read_input_tokens' | 'cache_creation_input_tokens'> => ({
  cache_read_input_tokens: firstFigure(usage, CACHE_READ),
  cache_creation_input_tokens: firstFigure(usage, CACHE_CREATION),
})

const modelUsageOf = (model: string, usage: JsonObject): ModelUsage => ({
  model,
  requests: figureOf(usage['requests']),
  prompt_tokens: figureOf(usage['prompt_tokens']),
  input_tokens: figureOf(usage['input_tokens']),
  completion_tokens: figureOf(usage['completion_tokens']),
  output_tokens: figureOf(usage['output_tokens']),
  total_tokens: figureOf(usage['total_tokens']),
  ...cacheFiguresOf(usage),
})

/** Reads `summary.usage` and `summary.status_counts`; values of an unexpected shape count as nothing. */
export const reportedUsageOf = (summary: JsonObject): ReportedUsage => {
  const { usage, status_counts: counts } = summary
  return {
    models: isJsonObject(usage)
      ? Object.entries(usage).flatMap(([model, entry]) => [
          modelUsageOf(model, isJsonObject(entry) ? entry : {}),
        ])
      : [],
    status_total: isJsonObject(counts)
      ? clamp(Object.values(counts).reduce<number>((sum, count) => sum + figureOf(count), 0))
      : null,
  }
}
