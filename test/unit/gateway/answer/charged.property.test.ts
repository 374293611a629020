import assert from 'node:assert/strict'
import fc from 'fast-check'
import { costOf } from '../../../../src/domain/gateway/limits/charge.js'
import { Ledger, keysOf } from '../../../../src/domain/gateway/limits/ledger.js'
import { amountFrom, decimalText } from '../../../../src/domain/prices/decimal.js'
import { meteredWith } from '../../../support/upstreams/metered.js'
import {
  arbitraryCosts,
  arbitraryTokens,
  expectedCost,
  priceOf,
  USAGE_FORMS,
} from '../../../support/upstreams/random-usages.js'
import { aCall, recorded, started } from '../../domain/gateway/limits/given.js'

const USAGES = 1000

describe('1,000 random usages with cached, written and reasoning tokens', () => {
  it('cost what an independent calculation says, and so does the sum of their budget, to the last digit', () => {
    const ledger = new Ledger()
    let sum = 0n
    let usages = 0
    fc.assert(
      fc.property(arbitraryTokens, arbitraryCosts, fc.nat(USAGE_FORMS.length - 1), (of, costs, form) => {
        const price = priceOf(costs)
        const used = meteredWith(USAGE_FORMS[form]!(of)).usage
        assert.ok(used)
        const expected = expectedCost(of, costs)
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
