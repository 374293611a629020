import { ownUsage } from './already-added.js'
import { Family } from './family.js'
import type { Operation } from './operations.js'
import { record } from './record.js'
import type { Started } from './started.js'
import type { Folded } from './usage.js'

/** A price that stands, in the order in which prices were given; costs of a token are fractions. */
export interface OraclePrice {
  readonly model: string
  readonly ofProject: boolean
  /** Microseconds since 1970. */
  readonly effective: bigint
  readonly costs: TokenFractions
  /** Of requests with more prompt tokens. */
  readonly tiers: readonly { readonly above: bigint; readonly costs: TokenFractions }[]
}

/** Prompt, completion, cache read, cache creation, that for an hour, audio of both, a search, a request, a second, a character and an image. */
type TokenFractions = readonly [
  Fraction,
  Fraction,
  Fraction,
  Fraction,
  Fraction,
  Fraction,
  Fraction,
  Fraction,
  Fraction,
  Fraction,
  Fraction,
  Fraction,
]

/** A whole number over another one. */
export type Fraction = readonly [numerator: bigint, denominator: bigint]

const plus = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * d + c * b, b * d]
const times = ([a, b]: Fraction, by: bigint): Fraction => [a * by, b]
export const isEqual = ([a, b]: Fraction, [c, d]: Fraction): boolean => a * d === c * b

const NOTHING: Fraction = [0n, 1n]
export const total = (fractions: readonly Fraction[]): Fraction => fractions.reduce(plus, NOTHING)

/** What a call used itself of a model, and what that cost: four kinds of tokens, and units, each at its price. */
export interface OwnCosts {
  readonly model: string
  readonly costs: readonly Fraction[]
  /** Whether there were tokens, and no price. */
  readonly isUnpriced: boolean
}

export interface OracleCosts {
  readonly own: (callId: string) => readonly OwnCosts[]
  /** The nine costs of each model of a call with all its descendants. */
  readonly of: (callId: string, model: string) => readonly Fraction[]
  /** The models of which the call, or a descendant, used tokens that had no price. */
  readonly unpriced: (callId: string) => readonly string[]
}

/** What calls cost, worked out call by call from the rules alone. */
export const costsAfter = (
  operations: ReadonlyArray<Operation>,
  prices: ReadonlyArray<OraclePrice>,
): OracleCosts => {
  const { calls, reporting } = record(operations)
  const everyone = new Family(calls)
  const living = new Family(calls.filter(({ deleted }) => !deleted))
  const callOf = (callId: string): Started => calls.find(({ id }) => id === callId)!
  const ownOf = (call: Started): readonly OwnCosts[] =>
    [...ownUsage(call, everyone, reporting)].map(([model, entry]) => {
      const tokens = billedTokens(entry)
      const price = chosen(prices, model, call)
      return {
        model,
        costs: price === undefined ? KINDS.map(() => NOTHING) : costsOf(tokens, ofSize(price, entry)),
        isUnpriced: price === undefined && tokens.some((count, kind) => count !== 0n && kind !== REQUESTS),
      }
    })
  const members = (callId: string) => living.withDescendants(callOf(callId)).flatMap(ownOf)
  return {
    own: (callId) => ownOf(callOf(callId)),
    of: (callId, model) => {
      const charged = members(callId).filter((one) => one.model === model)
      return KINDS.map((kind) => total(charged.map(({ costs }) => costs[kind]!)))
    },
    unpriced: (callId) =>
      members(callId)
        .filter(({ isUnpriced }) => isUnpriced)
        .map(({ model }) => model),
  }
}

const KINDS = [0, 1, 2, 3, 4, 5, 6, 7, 8] as const

/** Without tokens they cost nothing that is unknown. */
const REQUESTS = 8

/** What is written to a cache for an hour is a part of what is written to one. */
const costsOf = (tokens: readonly bigint[], costs: TokenFractions): readonly Fraction[] => [
  plus(times(costs[0], tokens[0]!), times(costs[5], tokens[5]!)),
  plus(times(costs[1], tokens[1]!), times(costs[6], tokens[6]!)),
  times(costs[2], tokens[2]!),
  plus(times(costs[3], tokens[3]!), times(costs[4], tokens[4]!)),
  times(costs[7], tokens[7]!),
  times(costs[REQUESTS], tokens[REQUESTS]!),
  times(costs[9], tokens[9]!),
  times(costs[10], tokens[10]!),
  times(costs[11], tokens[11]!),
]

/** Where several requests are one entry, their average decides. */
const ofSize = ({ costs, tiers }: OraclePrice, { prompt_tokens: prompt, requests }: Folded): TokenFractions =>
  tiers
    .filter(({ above }) => prompt > above * (requests > 1n ? requests : 1n))
    .reduce((best, tier) => (tier.above > best.above ? tier : best), { above: -1n, costs }).costs

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const positive = (count: bigint): bigint => (count < 0n ? 0n : count)

const billedTokens = (entry: Folded): readonly bigint[] => {
  const { cache_read_input_tokens: read, cache_creation_input_tokens: creation } = entry
  const hour = entry.cache_creation_1h_input_tokens
  const prompt = positive(entry.prompt_tokens - read - creation)
  const heard = least(entry.prompt_audio_tokens, prompt)
  const spoken = least(entry.completion_audio_tokens, positive(entry.completion_tokens))
  return [
    prompt - heard,
    entry.completion_tokens - spoken,
    read,
    positive(creation - hour),
    hour,
    heard,
    spoken,
    entry.web_search_requests,
    entry.requests,
    entry.seconds,
    entry.characters,
    entry.images,
  ]
}

const chosen = (
  prices: ReadonlyArray<OraclePrice>,
  model: string,
  { startedAt }: Started,
): OraclePrice | undefined => {
  const isBetter = (a: OraclePrice, b: OraclePrice): boolean => {
    const [inForceA, inForceB] = [a.effective <= startedAt, b.effective <= startedAt]
    if (inForceA !== inForceB) return inForceA
    if (a.ofProject !== b.ofProject) return a.ofProject
    return a.effective >= b.effective
  }
  return prices
    .filter((price) => price.model === model)
    .reduce<OraclePrice | undefined>(
      (best, one) => (best === undefined || isBetter(one, best) ? one : best),
      undefined,
    )
}
