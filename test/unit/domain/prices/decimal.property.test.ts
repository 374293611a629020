import assert from 'node:assert/strict'
import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import {
  amountFrom,
  amountOf,
  compareAmount,
  decimalText,
  numberFrom,
  tokenPrice,
} from '../../../../src/domain/prices/decimal.js'
import { exact, product, sum } from '../../../../src/domain/prices/exact.js'

const arbitraryAmount = fc.oneof(
  fc.bigInt({ min: -(10n ** 38n), max: 10n ** 38n }),
  fc.bigInt({ min: -(2n ** 54n), max: 2n ** 54n }),
  fc.bigInt({ min: -1000n, max: 1000n }),
)

/** As written, with the point moved by hand: an integer over a power of ten. */
const rationalOf = (value: number): readonly [bigint, bigint] => {
  const [mantissa, exponent] = value.toExponential().split('e') as [string, string]
  const [whole, fraction = ''] = mantissa.split('.') as [string, string?]
  const shift = Number(exponent) - fraction.length
  const digits = BigInt(whole + fraction)
  return shift >= 0 ? [digits * 10n ** BigInt(shift), 1n] : [digits, 10n ** BigInt(-shift)]
}

const size = (value: bigint): bigint => (value < 0n ? -value : value)

describe('amounts of money', () => {
  it('are the decimal that was written, rounded half-even to 12 places', () => {
    const written = [
      [0.0000025, '0.0000025'],
      [2.5e-6, '0.0000025'],
      [1e-12, '0.000000000001'],
      [4.5e-12, '0.000000000004'],
      [5.5e-12, '0.000000000006'],
      [4.50000001e-12, '0.000000000005'],
      [5e-13, '0'],
      [1e12, '1000000000000'],
      [123456.789, '123456.789'],
      [-0.1, '-0.1'],
      [5e-324, '0'],
    ] as const
    for (const [value, text] of written) assert.equal(decimalText(amountOf(value)), text)
  })

  it('are within half of 10^-12 of what was written, and even where that is a tie', () =>
    fc.assert(
      fc.property(fc.double({ noNaN: true, min: -1e13, max: 1e13 }), (value) => {
        const amount = amountOf(value)
        const [numerator, denominator] = rationalOf(value)
        const off = 2n * size(numerator * 10n ** 12n - amount * denominator)
        assert.ok(off < denominator || (off === denominator && amount % 2n === 0n))
      }),
    ))

  it('are compared with what was written as it stands, however small or large', () =>
    fc.assert(
      fc.property(
        fc.oneof(
          fc.double({ noNaN: true, noDefaultInfinity: true }),
          fc.double({ min: -10, max: 10, noNaN: true }),
        ),
        arbitraryAmount,
        fc.integer({ min: -1, max: 1 }),
        (value, other, near) => {
          const [numerator, denominator] = rationalOf(value)
          for (const amount of [other, amountOf(value) + BigInt(near)]) {
            const off = amount * denominator - numerator * 10n ** 12n
            assert.equal(compareAmount(amount, value), off === 0n ? 0 : off < 0n ? -1 : 1)
          }
        },
      ),
    ))

  it('come back from their text, which is short', () =>
    fc.assert(
      fc.property(arbitraryAmount, (amount) => {
        const text = decimalText(amount)
        assert.equal(amountFrom(text), amount)
        assert.doesNotMatch(text, /e|\.$|\.\d*0$|^-0$/)
        assert.equal(numberFrom(amount), Number(text))
        if (amount >= 0n && amount < 10n ** 25n) assert.ok(tokenPrice.is(text))
      }),
    ))

  it('of a price may be written with zeros at its end, and are kept without', () => {
    const kept = ['0', '0.00', '0.10', '2.50', '10', '1.0', '0.000000000001'].map((text) =>
      tokenPrice.decode(text),
    )
    const expected = ['0', '0', '0.1', '2.5', '10', '1', '0.000000000001']
    assert.deepEqual(kept, expected.map(E.right))
    for (const wrong of ['', '.5', '1.', '-1', '1e-6', '0,5', '00.5', '0.0000000000001', 0.1])
      assert.ok(E.isLeft(tokenPrice.decode(wrong)), String(wrong))
  })

  it('are multiplied and added without loss, whatever their size and order', () =>
    fc.assert(
      fc.property(fc.array(fc.tuple(arbitraryAmount, arbitraryAmount)), (pairs) => {
        const expected = pairs.reduce((total, [a, b]) => total + a * b, 0n)
        for (const order of [pairs, pairs.toReversed()]) {
          const products = order.map(([a, b]) => product(exact(a), exact(b)))
          assert.equal(BigInt(products.reduce((total, one) => sum(total, one), 0)), expected)
        }
      }),
    ))
})
