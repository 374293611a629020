import assert from 'node:assert/strict'
import fc from 'fast-check'
import { aligned, commonPlaces, wordPieces } from '../../../web/compare/align.js'

const shown = (left: string, right: string): string =>
  wordPieces(left, right)
    .map(({ of, text }) => (of === 'both' ? text : of === 'left' ? `[-${text}-]` : `{+${text}+}`))
    .join('')

const someWords = fc.array(fc.constantFrom('a', 'b', 'c', ' ', '\n', '漢', '!'), { maxLength: 40 })

describe('two texts side by side', () => {
  it('differ by words', () => {
    assert.equal(shown('It is 7 degrees.', 'It is 20 degrees.'), 'It is [-7-]{+20+} degrees.')
    assert.equal(shown('', 'new'), '{+new+}')
    assert.equal(shown('same', 'same'), 'same')
    assert.equal(shown('', ''), '')
  })

  it('are both whole', () => {
    fc.assert(
      fc.property(someWords, someWords, (a, b) => {
        const [left, right] = [a.join(''), b.join('')]
        const pieces = wordPieces(left, right)
        const without = (side: string) =>
          pieces.flatMap(({ of, text }) => (of === side ? [] : [text])).join('')
        assert.equal(without('right'), left)
        assert.equal(without('left'), right)
      }),
    )
  })

  it('share as much as possible, whichever is left', () => {
    fc.assert(
      fc.property(someWords, someWords, (left, right) => {
        const common = commonPlaces(left, right)
        assert.equal(common.length, commonPlaces(right, left).length)
        for (const [a, b] of common) assert.equal(left[a], right[b])
        for (const [n, [a, b]] of common.slice(1).entries()) assert.ok(a > common[n]![0] && b > common[n]![1])
        const mixed = left.flatMap((word, n) => [word, right[n] ?? 'x'])
        assert.equal(commonPlaces(left, mixed).length, left.length)
      }),
    )
  })

  it('share their beginning and end if they are too long to compare', () => {
    const many = (word: string) => Array.from({ length: 2000 }, (_, n) => `${word}${n}`)
    const common = commonPlaces(['a', ...many('x'), 'z'], ['a', ...many('y'), 'z'])
    assert.deepEqual(common, [
      [0, 0],
      [2001, 2001],
    ])
  })
})

describe('two lists of messages side by side', () => {
  const align = (left: string, right: string) =>
    aligned(
      left.split(''),
      right.split(''),
      (one) => one,
      (one) => (one === one.toUpperCase() ? 'upper' : 'lower'),
    ).map(({ left: a = '-', right: b = '-' }) => a + b)

  it('pair equal items, and items of one kind between them', () => {
    assert.deepEqual(align('abc', 'axc'), ['aa', 'bx', 'cc'])
    assert.deepEqual(align('abc', 'ac'), ['aa', 'b-', 'cc'])
    assert.deepEqual(align('aBc', 'axc'), ['aa', 'B-', '-x', 'cc'])
  })

  it('have all items of both, in order', () => {
    fc.assert(
      fc.property(someWords, someWords, (a, b) => {
        const pairs = aligned(a, b, String, String)
        assert.deepEqual(
          pairs.flatMap(({ left = [] }) => left),
          a,
        )
        assert.deepEqual(
          pairs.flatMap(({ right = [] }) => right),
          b,
        )
      }),
    )
  })
})
