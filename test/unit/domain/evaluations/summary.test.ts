import assert from 'node:assert/strict'
import { newSummary } from '../../../../src/domain/evaluations/summary.js'
import type { Json } from '../../../../src/kernel/json/json.js'

const summaryOf = (...scores: readonly Json[]): Json => {
  const summary = newSummary()
  for (const score of scores) summary.add(score)
  return summary.result()
}

describe('summary of scores', () => {
  it('has the mean, spread and percentiles of numbers', () => {
    assert.deepEqual(summaryOf(4, 1, 3, 2), {
      mean: 2.5,
      min: 1,
      max: 4,
      stddev: Math.sqrt(1.25),
      p50: 2.5,
      p95: 3.8499999999999996,
      count: 4,
    })
    assert.deepEqual(summaryOf(7), { mean: 7, min: 7, max: 7, stddev: 0, p50: 7, p95: 7, count: 1 })
  })

  it('has the count and the fraction of true', () => {
    assert.deepEqual(summaryOf(true, false, true, true), { true_count: 3, true_fraction: 0.75, count: 4 })
  })

  it('counts the categories of short texts', () => {
    assert.deepEqual(summaryOf('good', 'bad', 'good', '__proto__'), {
      categories: Object.fromEntries([
        ['__proto__', 1],
        ['bad', 1],
        ['good', 2],
      ]),
      count: 4,
    })
  })

  it('leaves out free text', () => {
    assert.deepEqual(summaryOf({ reason: 'x'.repeat(65), ok: true }), {
      ok: { true_count: 1, true_fraction: 1, count: 1 },
    })
    const texts = (count: number) => Array.from({ length: count }, (_, at) => `text ${at}`)
    assert.equal(summaryOf(...texts(51)), null)
    assert.notEqual(summaryOf(...texts(50)), null)
  })

  it('summarizes objects leaf by leaf and skips lists', () => {
    assert.deepEqual(summaryOf({ a: { b: true }, list: [1] }, { a: { b: false, c: 'x' }, list: [2] }), {
      a: { b: { true_count: 1, true_fraction: 0.5, count: 2 }, c: { categories: { x: 1 }, count: 1 } },
    })
  })

  it('counts nulls and leaves them out of means and fractions', () => {
    assert.deepEqual(summaryOf(null, true), { true_count: 1, true_fraction: 1, count: 1, none_count: 1 })
    assert.deepEqual(summaryOf(null, { ok: true }, { ok: null }), {
      ok: { true_count: 1, true_fraction: 1, count: 1, none_count: 1 },
      none_count: 1,
    })
    assert.deepEqual(summaryOf(null, null), { none_count: 2 })
    assert.deepEqual(summaryOf(Infinity, 1), { ...(summaryOf(1) as object), none_count: 1 })
  })

  it('counts an unscored row in the denominator of a fraction, as the Python SDK', () => {
    assert.deepEqual(summaryOf({ ok: true }, {}), { ok: { true_count: 1, true_fraction: 0.5, count: 1 } })
    assert.equal(summaryOf({}), null)
  })

  it('summarizes the most frequent type of a leaf and counts the others', () => {
    assert.deepEqual(summaryOf(true, true, 'n/a'), {
      true_count: 2,
      true_fraction: 1,
      count: 2,
      other_count: 1,
    })
    assert.deepEqual(summaryOf(true, 1), { ...(summaryOf(1) as object), other_count: 1 })
    assert.deepEqual(summaryOf(1, 2, { a: true }), {
      a: { true_count: 1, true_fraction: 1, count: 1 },
      other_count: 2,
    })
  })

  it('is empty without rows', () => {
    assert.deepEqual(summaryOf(), {})
  })

  it('stays finite for numbers whose sum is not', () => {
    const { mean, stddev } = summaryOf(1.7e308, 1.7e308) as { mean: number; stddev: number }
    assert.deepEqual([mean, stddev], [1.7e308, 0])
    assert.equal((summaryOf(1.7e308, -1.7e308) as { mean: number }).mean, 0)
  })

  it('bounds the depth and the number of leaves', () => {
    const nested = Array.from({ length: 9 }).reduce<Json>((inner) => ({ a: inner }), 1)
    assert.equal(summaryOf(nested), null)
    const wide = (from: number) =>
      Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`field ${from + at}`, at]))
    const summary = summaryOf(wide(300), wide(100)) as object
    assert.equal(Object.keys(summary).length, 200)
    assert.ok('field 100' in summary)
  })
})
