import fc from 'fast-check'
import type { JsonObject } from '../../../src/kernel/json/json.js'

/** Tokens of a completion, by what they cost. */
export const arbitraryTokens = fc.record({
  fresh: fc.integer({ min: 1, max: 100_000 }),
  read: fc.nat(100_000),
  written: fc.nat(10_000),
  text: fc.integer({ min: 1, max: 10_000 }),
  reasoning: fc.nat(10_000),
})
export type Tokens = typeof arbitraryTokens extends fc.Arbitrary<infer A> ? A : never

/** The same tokens as providers report them. */
export const USAGE_FORMS: readonly ((of: Tokens) => JsonObject)[] = [
  ({ fresh, read, written, text, reasoning }) => ({
    prompt_tokens: fresh + read + written,
    completion_tokens: text + reasoning,
    total_tokens: fresh + read + written + text + reasoning,
    prompt_tokens_details: { cached_tokens: read, cache_write_tokens: written },
    completion_tokens_details: { reasoning_tokens: reasoning },
  }),
  ({ fresh, read, written, text, reasoning }) => ({
    input_tokens: fresh,
    output_tokens: text + reasoning,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
    cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: 0 },
  }),
  ({ fresh, read, written, text, reasoning }) => ({
    prompt_tokens: fresh + read + written,
    completion_tokens: text,
    total_tokens: fresh + read + written + text + reasoning,
    prompt_tokens_details: { cached_tokens: read, cache_write_tokens: written },
  }),
]

const cost = fc.bigInt({ min: 0n, max: 10n ** 10n })

/** Costs of a token, in units of 10^-12. */
export const arbitraryCosts = fc.record({ prompt: cost, completion: cost, read: cost, written: cost })
export type Costs = typeof arbitraryCosts extends fc.Arbitrary<infer A> ? A : never

/** The decimal text of an amount in units of 10^-12. */
export const inDecimals = (amount: bigint): string => {
  const digits = String(amount).padStart(13, '0')
  return `${digits.slice(0, -12)}.${digits.slice(-12)}`
}

export const priceOf = ({ prompt, completion, read, written }: Costs) => ({
  prompt_token_cost: inDecimals(prompt),
  completion_token_cost: inDecimals(completion),
  cache_read_input_token_cost: inDecimals(read),
  cache_creation_input_token_cost: inDecimals(written),
  cache_creation_1h_input_token_cost: inDecimals(written),
})

/** What the tokens cost, in units of 10^-12. */
export const expectedCost = (of: Tokens, { prompt, completion, read, written }: Costs): bigint =>
  BigInt(of.fresh) * prompt +
  BigInt(of.read) * read +
  BigInt(of.written) * written +
  BigInt(of.text + of.reasoning) * completion
