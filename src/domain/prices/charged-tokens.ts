import { FIGURES, type Figure } from '../calls/usage.js'

/** Prompt, completion, cache read and cache creation, in this order. */
export type ChargedTokens = readonly [bigint, bigint, bigint, bigint]

const at = (figure: Figure): number => FIGURES.indexOf(figure)
const [PROMPT, INPUT] = [at('prompt_tokens'), at('input_tokens')]
const [COMPLETION, OUTPUT] = [at('completion_tokens'), at('output_tokens')]
const [READ, CREATION] = [at('cache_read_input_tokens'), at('cache_creation_input_tokens')]

/**
 * The charged tokens of a model's figures (in the order of `FIGURES`). Cached tokens are subtracted from the
 * prompt's, never below 0.
 */
export const chargedTokens = (figures: readonly bigint[]): ChargedTokens => {
  const [read, creation] = [figures[READ]!, figures[CREATION]!]
  const prompt = figures[PROMPT]! + figures[INPUT]! - read - creation
  return [prompt > 0n ? prompt : 0n, figures[COMPLETION]! + figures[OUTPUT]!, read, creation]
}
