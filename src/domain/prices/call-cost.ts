import { FIGURES, type ModelUsage, type Figure } from '../calls/usage.js'
import type { Instant } from '../../kernel/codec/instant.js'
import { entityOf } from '../../kernel/ids.js'
import type { TokenCosts } from './change.js'
import { amountFrom, type Amount } from './decimal.js'
import { DEFAULT_LIST, teamsList } from './events.js'

/** The prices at a log position. */
export interface PricesAtPosition {
  /**
   * An owner's price for a model with the latest effective date not after `by`, or the latest of all without `by`.
   * Between two of the same date, the last published wins.
   */
  readonly latest: (owner: string, model: string, by: Instant | undefined) => TokenCosts | undefined
}

/** A call's own usage and its start. */
export interface ChargedCall {
  readonly project_id: string
  readonly started_at: Instant
  readonly models: readonly ModelUsage[]
}

/** The owners whose prices apply to a project, in order of precedence. */
export const ownersFor = (projectId: string): readonly string[] => [
  projectId,
  teamsList(entityOf(projectId)),
  DEFAULT_LIST,
]

/** The cost of a call's own usage over all models; undefined if none of them has a price. */
export const costOf = (
  { latest }: PricesAtPosition,
  { project_id, started_at, models }: ChargedCall,
): Amount | undefined => {
  const owners = ownersFor(project_id)
  const priceBy = (model: string, by: Instant | undefined): TokenCosts | undefined => {
    for (const owner of owners) {
      const costs = latest(owner, model, by)
      if (costs !== undefined) return costs
    }
    return undefined
  }
  let sum: Amount | undefined
  for (const { model, ...figures } of models) {
    // A future price applies if none is in force yet.
    const costs = priceBy(model, started_at) ?? priceBy(model, undefined)
    if (costs === undefined) continue
    const tokens = chargedTokens(FIGURES.map((figure) => BigInt(figures[figure])))
    sum = tokens.reduce((total, count, kind) => total + count * amountFrom(costs[kind]!), sum ?? 0n)
  }
  return sum
}

/** Prompt, completion, cache read and cache creation, in this order. */
type ChargedTokens = readonly [bigint, bigint, bigint, bigint]

const at = (figure: Figure): number => FIGURES.indexOf(figure)
const [PROMPT, INPUT] = [at('prompt_tokens'), at('input_tokens')]
const [COMPLETION, OUTPUT] = [at('completion_tokens'), at('output_tokens')]
const [READ, CREATION] = [at('cache_read_input_tokens'), at('cache_creation_input_tokens')]

/**
 * The charged tokens of a model's figures (in the order of `FIGURES`). Cached tokens are subtracted from the
 * prompt's, never below 0.
 */
const chargedTokens = (figures: readonly bigint[]): ChargedTokens => {
  const [read, creation] = [figures[READ]!, figures[CREATION]!]
  const prompt = figures[PROMPT]! + figures[INPUT]! - read - creation
  return [prompt > 0n ? prompt : 0n, figures[COMPLETION]! + figures[OUTPUT]!, read, creation]
}
