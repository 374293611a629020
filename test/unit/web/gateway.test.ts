import assert from 'node:assert/strict'
import fc from 'fast-check'
import { usedUpAt } from '../../../web/gateway/forecast.js'
import { shifted } from '../../../web/gateway/upstream-draft.js'

const NOVEMBER = { of: '2026-11', ends_at: '2026-12-01T00:00:00Z' }
const at = (text: string) => Date.parse(text)

describe('the forecast of a budget', () => {
  it('goes on with the rate of the period so far', () => {
    assert.equal(usedUpAt(NOVEMBER, 50, 100, at('2026-11-11T00:00:00Z')), at('2026-11-21T00:00:00Z'))
  })

  it('names no time when the budget lasts until the end of its period', () => {
    assert.equal(usedUpAt(NOVEMBER, 10, 100, at('2026-11-11T00:00:00Z')), undefined)
    assert.equal(usedUpAt(NOVEMBER, 0, 100, at('2026-11-11T00:00:00Z')), undefined)
  })

  it('names no time at the start of a period', () => {
    assert.equal(usedUpAt(NOVEMBER, 10, 100, at('2026-11-01T01:00:00Z')), undefined)
  })

  it('is now when the budget is used up', () => {
    const now = at('2026-11-30T12:00:00Z')
    assert.equal(usedUpAt({ of: '2026-11-30', ends_at: NOVEMBER.ends_at }, 3, 2, now), now)
  })
})

describe('the price of a million tokens', () => {
  it('is the price of a token with the point moved, without rounding', () => {
    assert.equal(shifted('0.0000025', 6), '2.5')
    assert.equal(shifted('2.5', -6), '0.0000025')
    assert.equal(shifted('0', -6), '0')
    assert.equal(shifted('12', 6), '12000000')
    assert.equal(shifted('words', -6), 'words')
  })

  it('is the price of a token again with the point moved back', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 15n }), (units) => {
        const digits = String(units).padStart(13, '0')
        const price = `${digits.slice(0, -12)}.${digits.slice(-12)}`.replace(/\.?0+$/, '') || '0'
        assert.equal(shifted(shifted(price, 6), -6), price.replace(/^0+(?=\d)/, ''))
      }),
    )
  })
})
