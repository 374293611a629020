import fc from 'fast-check'
import type { Json, JsonObject } from './operations.js'
import { around, MODELS } from './pools.js'
import { RAW_KEYS } from './usage.js'

const small = fc.nat(20)
/** Around the sizes above which prices differ. */
const prompts = fc.oneof(
  { weight: 5, arbitrary: small },
  { weight: 1, arbitrary: fc.constantFrom(128_000, 200_000, 200_001, 400_001, 600_000) },
)

const model = fc
  .oneof({ weight: 6, arbitrary: fc.nat(1) }, { weight: 1, arbitrary: fc.nat(MODELS.length - 1) })
  .map((index) => around(MODELS, index))

/** As providers report it: the names of the OpenAI family or those of Anthropic's. */
const saneEntry: fc.Arbitrary<JsonObject> = fc
  .tuple(fc.nat(6), prompts, small, fc.nat(2))
  .map(([style, prompt, completion, requests]): JsonObject => {
    switch (style) {
      case 0:
        return {
          requests,
          prompt_tokens: prompt,
          completion_tokens: completion,
          total_tokens: prompt + completion,
        }
      case 1:
        return { requests, input_tokens: prompt, output_tokens: completion, cache_read_input_tokens: prompt }
      case 2:
        return { prompt_tokens: prompt, output_tokens: completion, cache_creation_input_tokens: requests }
      case 3:
        return {
          prompt_tokens: prompt,
          completion_tokens: completion,
          prompt_tokens_details: { audio_tokens: completion, cached_tokens: requests },
          completion_tokens_details: { audio_tokens: requests },
          server_tool_use: { web_search_requests: requests },
        }
      case 4:
        return { cache_hits: 1, saved_tokens: prompt, saved_cost: `0.${completion}0000000007` }
      case 5:
        return { type: 'duration', seconds: prompt, characters: completion, images: requests }
      default:
        return { prompt_tokens: prompt, total_tokens: completion }
    }
  })

const oddFigure: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(' 12 ', '+7', '-3', '1e3', '3.5', '', '١٢', '1234567890123', 'x', '\t4\n'),
  fc.constantFrom<Json>(true, false, null, [], [3], {}, { total_tokens: 1 }),
  fc.constantFrom<Json>(3.9, -3.9, -0.5, 0, -1, -20, 2 ** 40, 2 ** 40 - 1, -(2 ** 40)),
  small,
)

const oddEntry: fc.Arbitrary<Json> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .array(fc.tuple(fc.constantFrom<string>(...RAW_KEYS, 'details'), oddFigure), { maxLength: 5 })
      .map((pairs): Json => Object.fromEntries(pairs)),
  },
  { weight: 1, arbitrary: fc.constantFrom<Json>('oops', 7, true, null, [], [{ requests: 1 }]) },
)

const ofEntries = (entry: fc.Arbitrary<Json>): fc.Arbitrary<Json> =>
  fc.array(fc.tuple(model, entry), { maxLength: 2 }).map((pairs): Json => Object.fromEntries(pairs))

/** What one call used itself, as it would stand in `summary.usage`. */
export const arbitraryUsage: fc.Arbitrary<Json> = fc.oneof(
  { weight: 16, arbitrary: ofEntries(saneEntry) },
  { weight: 3, arbitrary: ofEntries(oddEntry) },
  { weight: 1, arbitrary: fc.constantFrom<Json>(null, 'oops', [], [{ 'gpt-4': { requests: 1 } }], 3) },
)

const oddCount = fc.constantFrom<Json>('2', true, null, 1.9, 'x', -1, 4)

export const arbitraryOddCounts: fc.Arbitrary<Json> = fc.oneof(
  fc
    .array(fc.tuple(fc.constantFrom('success', 'error', 'running', 'descendant_error', 'new'), oddCount), {
      maxLength: 3,
    })
    .map((pairs): Json => Object.fromEntries(pairs)),
  fc.constantFrom<Json>(null, 3, [], [9]),
)
