import assert from 'node:assert/strict'
import fc from 'fast-check'
import { fieldPath } from '../../../src/domain/query/field-path.js'
import { distributionOf } from '../../../src/domain/evaluations/distribution.js'
import { changeOf, differenceText, figureText, nameIn, scoreAt } from '../../../web/evaluations/figures.js'
import { fieldText, filterIn, filtersOf, orderOf, pathText } from '../../../web/evaluations/row-filter.js'
import { wordDiff } from '../../../web/evaluations/word-diff.js'

describe('the figures of evaluations', () => {
  it('are shares of rows with one decimal, and numbers with five digits', () => {
    assert.deepEqual(
      [figureText('boolean', 2 / 3), figureText('boolean', 1), figureText('number', 2 / 3)],
      ['66.7\u2009%', '100\u2009%', '0.66667'],
    )
    assert.deepEqual(
      [differenceText('boolean', -0.5), differenceText('number', 2.5), differenceText('number', 0)],
      ['−50\u2009pp', '+2.5', '±0'],
    )
  })

  it('are better, worse or the same as those of the baseline', () => {
    assert.deepEqual(
      [changeOf(2, 1, false), changeOf(2, 1, true), changeOf(1, 1, false), changeOf(null, 1, false)],
      ['ok', 'danger', 'plain', 'plain'],
    )
  })

  it('are found by the keys of scores, whatever these are named', () => {
    const scores = JSON.parse('{"a.b": {"__proto__": {"c": 1}}, "x": null}') as Record<string, unknown>
    assert.equal(scoreAt(scores, { scorer: 'a.b', path: ['__proto__', 'c'] }), 1)
    assert.equal(scoreAt(scores, { scorer: 'toString', path: [] }), undefined)
    assert.equal(scoreAt(scores, { scorer: 'x', path: ['y'] }), undefined)
  })

  it('have the names in references', () => {
    assert.equal(nameIn('weave:///team/p/object/a:b:v0'), 'a:b')
    assert.deepEqual([nameIn('some text'), nameIn(null), nameIn('')], ['some text', undefined, undefined])
  })

  it('are distributed over equal parts that have all numbers', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: -1e9, max: 1e9, noNaN: true })), (numbers) => {
        const sorted = Float64Array.from(numbers).sort()
        const { counts, from, to } = distributionOf(sorted) ?? { counts: [], from: undefined, to: undefined }
        assert.equal(
          counts.reduce((sum, count) => sum + count, 0),
          numbers.length,
        )
        assert.deepEqual([from, to], [sorted[0], sorted.at(-1)])
      }),
    )
  })
})

describe('the filter of rows', () => {
  it('names a field as the API reads it', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 1 }), { minLength: 1 }), (keys) => {
        assert.deepEqual(fieldPath(`scores.${pathText(keys)}`), ['scores', ...keys])
      }),
    )
  })

  it('is the same after a way through the address', () => {
    const score = fieldText({ scorer: 'judge', path: ['a.b', 'c'] })
    assert.deepEqual(filtersOf(filterIn({ score, only: 'lt:0.5' })), [
      { op: 'lt', value: 0.5, scorer: 'judge', path: 'a\\.b.c' },
    ])
    assert.deepEqual(filtersOf(filterIn({ score, only: 'failed' }))?.[0]?.value, false)
    assert.deepEqual(filtersOf(filterIn({ only: 'missing' })), [{ op: 'failed', value: null }])
    for (const only of ['lt:x', 'failed', 'other', ''])
      assert.equal(filtersOf(filterIn({ score: '[', only })), null)
    assert.deepEqual(orderOf({ sort: `-${score}` }), [{ field: 'scores.judge.a\\.b.c', direction: 'desc' }])
    assert.equal(orderOf({ sort: 'x' }), null)
  })
})

describe('the difference of two texts', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'Wort', ' ', '\n', '.', '🎉'))
    .map((words) => words.join(''))

  it('has both texts in it, and nothing that is the same in both as changed', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const parts = wordDiff(before, after)!
        const without = (kind: string) =>
          parts
            .filter((part) => part.kind !== kind)
            .map((part) => part.text)
            .join('')
        assert.deepEqual([without('added'), without('removed')], [before, after])
        if (before === after) assert.ok(parts.every(({ kind }) => kind === 'same'))
      }),
    )
  })

  it('is not computed for long texts', () => {
    assert.equal(wordDiff('a '.repeat(2000), 'b'), undefined)
  })
})
