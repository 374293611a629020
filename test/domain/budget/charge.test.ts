import assert from 'node:assert/strict'
import { costOf, dearest } from '../../../src/domain/budget/charge.js'
import { endOf, periodOf } from '../../../src/domain/budget/periods.js'
import { mostTokens } from '../../../src/domain/budget/reservation.js'
import type { Instant } from '../../../src/domain/codec/instant.js'
import { decimalText } from '../../../src/domain/price/decimal.js'
import { PRICE } from './given.js'

describe('what a completion costs', () => {
  it('is exact, tokens of the cache at their own price, and never below nothing', () => {
    const price = { ...PRICE, prompt_token_cost: '0.000000000001', completion_token_cost: '0.1' }
    const cost = (prompt: number, completion: number, cacheRead = 0, cacheCreation = 0) =>
      decimalText(costOf(price, { prompt, completion, cacheRead, cacheCreation }))
    assert.equal(cost(1, 3), '0.300000000001')
    assert.equal(cost(10, 0, 4), '2.000000000006')
    assert.equal(cost(2, 0, 4), '2')
    assert.equal(cost(5, 0, 0, 1), '2.000000000004')
    assert.equal(costOf(null, { prompt: 1, completion: 1, cacheRead: 0, cacheCreation: 0 }), 0n)
  })

  it('is held at the dearest price of those who may serve it', () => {
    const other = { ...PRICE, prompt_token_cost: '3', completion_token_cost: '0.5' }
    assert.deepEqual(dearest([PRICE, null, other]), { ...PRICE, prompt_token_cost: '3' })
    assert.equal(dearest([null]), null)
  })

  it('is held for all that it may write: each choice as many tokens as it says, or the usual many', () => {
    const asked = { n: 1, max_tokens: null, max_completion_tokens: null }
    assert.deepEqual(mostTokens(asked, 9), { prompt: 3, completion: 4096 })
    assert.deepEqual(mostTokens({ ...asked, n: 3, max_tokens: 7 }, 0), { prompt: 0, completion: 21 })
    assert.equal(mostTokens({ ...asked, max_tokens: 7, max_completion_tokens: 5 }, 0).completion, 5)
  })
})

describe('periods of budgets', () => {
  it('are calendar days and months of UTC', () => {
    const at = '2026-12-31T23:59:59.999999Z' as Instant
    assert.deepEqual([periodOf('day', at), periodOf('month', at)], ['2026-12-31', '2026-12'])
    for (const period of ['2026-12-31', '2026-12']) assert.equal(endOf(period), Date.UTC(2027, 0, 1))
    assert.equal(endOf('2028-02-28'), Date.UTC(2028, 1, 29))
  })
})
