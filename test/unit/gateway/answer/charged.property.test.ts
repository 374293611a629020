import assert from 'node:assert/strict'
import fc from 'fast-check'
import { costOf } from '../../../../src/domain/gateway/limits/charge.js'
import { Ledger, keysOf } from '../../../../src/domain/gateway/limits/ledger.js'
import { amountFrom, decimalText } from '../../../../src/domain/prices/decimal.js'
import { reportedIn } from '../../../../src/gateway/answer/usage.js'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import { aCall, recorded, started } from '../../domain/gateway/limits/given.js'

const USAGES = 1000

const tokens = fc.record({
  fresh: fc.integer({ min: 1, max: 100_000 }),
  read: fc.nat(100_000),
  written: fc.nat(10_000),
  text: fc.integer({ min: 1, max: 10_000 }),
  reasoning: fc.nat(10_000),
})
type Tokens = typeof tokens extends fc.Arbitrary<infer A> ? A : never

/** The same tokens as providers report them. */
const FORMS: readonly ((of: Tokens) => JsonObject)[] = [
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

const costs = fc.bigInt({ min: 0n, max: 10n ** 10n })

describe('1,000 random usages with cached, written and reasoning tokens', () => {
  it('cost what an independent calculation says, and so does the sum of their budget, to the last digit', () => {
    const ledger = new Ledger()
    let sum = 0n
    let usages = 0
    fc.assert(
      fc.property(tokens, fc.tuple(costs, costs, costs, costs), fc.nat(2), (of, prices, form) => {
        const [prompt, completion, read, written] = prices
        const price = {
          prompt_token_cost: decimalText(prompt),
          completion_token_cost: decimalText(completion),
          cache_read_input_token_cost: decimalText(read),
          cache_creation_input_token_cost: decimalText(written),
          cache_creation_1h_input_token_cost: decimalText(written),
        }
        const used = reportedIn(FORMS[form]!(of))
        assert.ok(used)
        const expected =
          BigInt(of.fresh) * prompt +
          BigInt(of.read) * read +
          BigInt(of.written) * written +
          BigInt(of.text + of.reasoning) * completion
        assert.equal(costOf(price, used), expected)

        const call = aCall(`c${(usages += 1)}`)
        ledger.take(recorded(started(call), usages))
        ledger.settle(call.stream, { kind: 'used', used, price })
        sum += expected
        for (const key of keysOf(call))
          assert.deepEqual(ledger.sums(key), { spent: sum, reserved: 0n, unknown: 0n })
      }),
      { numRuns: USAGES, endOnFailure: true },
    )
    assert.equal(amountFrom(decimalText(sum)), sum)
  })
})
