import fc from 'fast-check'
import type { JsonObject } from '../../../src/kernel/json/json.js'

/** Tokens of a completion, by what they cost. */
export const arbitraryTokens = fc.record({
  fresh: fc.integer({ min: 1, max: 100_000 }),
  read: fc.nat(100_000),
  written: fc.nat(10_000),
  text: fc.integer({ min: 1, max: 10_000 }),
  reasoning: fc.nat(10_000),
  heard: fc.nat(1000),
  spoken: fc.nat(1000),
  searches: fc.nat(5),
})
export type Tokens = typeof arbitraryTokens extends fc.Arbitrary<infer A> ? A : never

/** The same tokens as providers report them. */
export const USAGE_FORMS: readonly ((of: Tokens) => JsonObject)[] = [
  ({ fresh, heard, read, written, text, spoken, reasoning, searches }) => ({
    prompt_tokens: fresh + heard + read + written,
    completion_tokens: text + spoken + reasoning,
    total_tokens: fresh + heard + read + written + text + spoken + reasoning,
    prompt_tokens_details: { cached_tokens: read, cache_write_tokens: written, audio_tokens: heard },
    completion_tokens_details: { reasoning_tokens: reasoning, audio_tokens: spoken },
    num_search_queries: searches,
  }),
  ({ fresh, heard, read, written, text, spoken, reasoning, searches }) => ({
    input_tokens: fresh + heard,
    output_tokens: text + spoken + reasoning,
    input_token_details: { audio: heard },
    output_token_details: { audio: spoken },
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
    cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: 0 },
    server_tool_use: { web_search_requests: searches },
  }),
  ({ fresh, heard, read, written, text, spoken, reasoning, searches }) => ({
    prompt_tokens: fresh + heard + read + written,
    completion_tokens: text + spoken,
    total_tokens: fresh + heard + read + written + text + spoken + reasoning,
    prompt_tokens_details: { cached_tokens: read, cache_write_tokens: written, audio_tokens: heard },
    completion_tokens_details: { audio_tokens: spoken },
    server_tool_use: { web_search_requests: searches },
  }),
]

const cost = fc.bigInt({ min: 0n, max: 10n ** 10n })

/** Costs of a token, in units of 10^-12. */
export const arbitraryCosts = fc.record(
  {
    prompt: cost,
    completion: cost,
    read: cost,
    written: cost,
    heard: cost,
    spoken: cost,
    search: cost,
    request: cost,
  },
  { requiredKeys: ['prompt', 'completion', 'read', 'written'] },
)
export type Costs = typeof arbitraryCosts extends fc.Arbitrary<infer A> ? A : never

/** The decimal text of an amount in units of 10^-12. */
export const inDecimals = (amount: bigint): string => {
  const digits = String(amount).padStart(13, '0')
  return `${digits.slice(0, -12)}.${digits.slice(-12)}`
}

export const priceOf = ({ prompt, completion, read, written, heard, spoken, search, request }: Costs) => ({
  prompt_token_cost: inDecimals(prompt),
  completion_token_cost: inDecimals(completion),
  cache_read_input_token_cost: inDecimals(read),
  cache_creation_input_token_cost: inDecimals(written),
  cache_creation_1h_input_token_cost: inDecimals(written),
  ...(heard === undefined ? {} : { prompt_audio_token_cost: inDecimals(heard) }),
  ...(spoken === undefined ? {} : { completion_audio_token_cost: inDecimals(spoken) }),
  ...(search === undefined ? {} : { web_search_cost: inDecimals(search) }),
  ...(request === undefined ? {} : { request_cost: inDecimals(request) }),
})

/** What the tokens cost, in units of 10^-12. */
export const expectedCost = (
  of: Tokens,
  {
    prompt,
    completion,
    read,
    written,
    heard = prompt,
    spoken = completion,
    search = 0n,
    request = 0n,
  }: Costs,
): bigint =>
  BigInt(of.fresh) * prompt +
  BigInt(of.heard) * heard +
  BigInt(of.spoken) * spoken +
  BigInt(of.searches) * search +
  request +
  BigInt(of.read) * read +
  BigInt(of.written) * written +
  BigInt(of.text + of.reasoning) * completion
