import assert from 'node:assert/strict'
import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import { exactTiers, offeredTiers } from '../../../../../src/domain/prices/offered-tiers.js'
import { decode } from '../../../../../src/kernel/codec/codec.js'
import { costOf, maxPrice, maxCost } from '../../../../../src/domain/gateway/limits/charge.js'
import { endOf, periodOf } from '../../../../../src/domain/gateway/limits/accounts.js'
import { maxCompletionTokens } from '../../../../../src/domain/gateway/limits/max-tokens.js'
import type { Instant } from '../../../../../src/kernel/codec/instant.js'
import type { JsonObject } from '../../../../../src/kernel/json/json.js'
import { decimalText } from '../../../../../src/domain/prices/decimal.js'
import type { ModelPrice } from '../../../../../src/domain/gateway/upstreams/content.js'
import { arbitraryJson } from '../../../../support/arbitrary-json.js'
import { PRICE, usedTokens } from './given.js'

const TIERS = [
  { above_prompt_tokens: 200_000, factor: 3 },
  { service_tier: 'priority', factor: 2 },
]

describe('what a completion costs', () => {
  it('is exact, tokens of the cache at their own price, and never below nothing', () => {
    const price = {
      ...PRICE,
      prompt_token_cost: '0.000000000001',
      completion_token_cost: '0.1',
      cache_creation_1h_input_token_cost: '3',
    }
    const cost = (prompt: number, completion: number, cacheRead = 0, cacheCreation = 0, forAnHour = 0) =>
      decimalText(
        costOf(
          price,
          usedTokens(prompt, completion, {
            cache_read_input_tokens: cacheRead,
            cache_creation_input_tokens: cacheCreation,
            cache_creation_1h_input_tokens: forAnHour,
          }),
        ),
      )
    assert.equal(cost(1, 3), '0.300000000001')
    assert.equal(cost(10, 0, 4), '2.000000000006')
    assert.equal(cost(2, 0, 4), '2')
    assert.equal(cost(5, 0, 0, 1), '2.000000000004')
    assert.equal(cost(5, 0, 0, 2, 1), '5.000000000003')
    assert.equal(costOf(null, usedTokens(1, 1)), 0n)
  })

  it('is what its provider reported where there is no price', () => {
    const used = usedTokens(1, 1, { reported_cost: 4_200_000 })
    assert.equal(decimalText(costOf(null, used)), '0.0042')
    assert.equal(decimalText(costOf(PRICE, used)), '2')
  })

  it('is that of audio and searches where the price states it', () => {
    const used = usedTokens(10, 5, {
      prompt_audio_tokens: 4,
      completion_audio_tokens: 2,
      web_search_requests: 3,
    })
    assert.equal(decimalText(costOf(PRICE, used)), '15')
    const price = {
      ...PRICE,
      prompt_audio_token_cost: '7',
      completion_audio_token_cost: '9',
      web_search_cost: '100',
    }
    assert.equal(decimalText(costOf(price, used)), '355')
    assert.equal(decimalText(maxCost(price, 10, 5)), '115')
    assert.equal(decimalText(maxCost(price, 10, 5, 2)), '315')
  })

  it('has that of each request, which is held too', () => {
    const price = { ...PRICE, request_cost: '1000' }
    assert.equal(decimalText(costOf(price, usedTokens(0, 0))), '1000')
    assert.equal(decimalText(costOf(price, usedTokens(0, 0, { requests: 3 }))), '3000')
    assert.equal(decimalText(maxCost(price, 10, 3)), '1023')
    assert.equal(maxPrice([PRICE, price])?.request_cost, '1000')
  })

  it('is that of the tier of its size and service', () => {
    const decoded = decode(offeredTiers)(TIERS)
    assert.ok(E.isRight(decoded))
    const tiers = exactTiers(PRICE, decoded.right)
    const cost = (prompt: number, more = {}) =>
      decimalText(costOf({ ...PRICE, tiers }, usedTokens(prompt, 0, more)))
    assert.equal(cost(200_000), '200000')
    assert.equal(cost(200_001), '600003')
    assert.equal(cost(200_001, { requests: 2 }), '200001')
    assert.equal(cost(4, { service_tier: 'priority' }), '8')
    assert.equal(cost(200_001, { service_tier: 'priority' }), '1200006')
    assert.equal(decimalText(maxCost({ ...PRICE, tiers }, 10, 3)), '46')
    assert.equal(decimalText(maxCost({ ...PRICE, tiers }, 200_001, 0)), '2400012')
  })

  it('is held at the maxPrice price of those who may serve it', () => {
    const other = { ...PRICE, prompt_token_cost: '3', completion_token_cost: '0.5' }
    assert.deepEqual(maxPrice([PRICE, null, other]), { ...PRICE, prompt_token_cost: '3' })
    assert.equal(maxPrice([null]), null)
  })

  it('is held as if all of the prompt cost the most that any of it may', () => {
    const most = (price: ModelPrice | null) => decimalText(maxCost(price, 10, 3))
    assert.equal(most(PRICE), '23')
    const cheap = { cache_creation_input_token_cost: '0', cache_creation_1h_input_token_cost: '0' }
    assert.equal(most({ ...PRICE, ...cheap }), '13')
    assert.equal(most({ ...PRICE, cache_creation_1h_input_token_cost: '5' }), '53')
    assert.equal(most({ ...PRICE, cache_read_input_token_cost: '4' }), '43')
    assert.equal(most(null), '0')
  })

  it('is held for all that it may write: each choice the most that any name says, or the usual many', () => {
    const most = (given: JsonObject) => maxCompletionTokens(given, Number(given['n'] ?? 1))
    assert.equal(most({}), 4096)
    assert.equal(most({ n: 3, max_tokens: 7 }), 21)
    assert.equal(most({ n: 3, best_of: 5, max_tokens: 7 }), 35)
    assert.equal(most({ max_tokens: 7, max_completion_tokens: 5 }), 7)
    assert.equal(most({ max_tokens: null, max_completion_tokens: 5, min_tokens: 0 }), 5)
    assert.equal(most({ max_tokens: 5, n_predict: 100 }), 100)
    assert.equal(most({ max_tokens: 5, n_predict: -1 }), 4096)
    assert.equal(most({ max_tokens: 5, max_new_tokens: '300' }), 300)
    assert.equal(most({ min_tokens: 5000 }), 5000)
    assert.equal(most({ n: 128, max_tokens: 2 ** 31, n_predict: 1e308 }), 2 ** 38)
  })

  it('is held in exact decimals, whatever the request says', () =>
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom('n_predict', 'max_new_tokens', 'min_tokens', 'max_length'),
          arbitraryJson,
        ),
        fc.integer({ min: 1, max: 128 }),
        (given, n) => {
          const written = maxCompletionTokens(given, n)
          assert.ok(Number.isSafeInteger(written) && written >= n && written <= 128 * 2 ** 31)
          assert.ok(maxCost(PRICE, 0, written) > 0n)
        },
      ),
    ))
})

describe('periods of budgets', () => {
  it('are calendar days and months of UTC', () => {
    const at = '2026-12-31T23:59:59.999999Z' as Instant
    assert.deepEqual([periodOf('day', at), periodOf('month', at)], ['2026-12-31', '2026-12'])
    for (const period of ['2026-12-31', '2026-12']) assert.equal(endOf(period), Date.UTC(2027, 0, 1))
    assert.equal(endOf('2028-02-28'), Date.UTC(2028, 1, 29))
  })
})
