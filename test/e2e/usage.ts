import type { Figures } from './research.js'

/** One model's entry in a usage answer. */
export const figures = ([requests, prompt, completion, cacheRead = 0]: Figures) => ({
  requests,
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  cache_read_input_tokens: cacheRead,
  cache_creation_input_tokens: 0,
  prompt_tokens_total_cost: null,
  completion_tokens_total_cost: null,
  cache_read_input_tokens_total_cost: null,
  cache_creation_input_tokens_total_cost: null,
})

export const usageOf = (byModel: Readonly<Record<string, Figures>>) =>
  Object.fromEntries(Object.entries(byModel).map(([model, used]) => [model, figures(used)]))
