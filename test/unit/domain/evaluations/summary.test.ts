import assert from 'node:assert/strict'
import { newRunSummary } from '../../../../src/domain/evaluations/summary.js'
import type { Json } from '../../../../src/kernel/json/json.js'
import { scoredRow, summaryOf as summaryOfRows } from './given.js'

const summaryOf = (...scores: readonly Json[]): Json => summaryOfRows(scores.map(scoredRow))['s'] ?? {}

/** The figures of numbers that are all the same. */
const same = (value: number) => ({ mean: value, min: value, max: value, stddev: 0, p50: value, p95: value })
const TIMEOUT = { error: 'timeout' }

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
      row_count: 4,
    })
    assert.deepEqual(summaryOf(7), { ...same(7), count: 1, row_count: 1 })
  })

  it('has the count and the fraction of true', () => {
    assert.deepEqual(summaryOf(true, false, true, true), {
      true_count: 3,
      true_fraction: 0.75,
      count: 4,
      row_count: 4,
    })
  })

  it('counts the categories of short texts', () => {
    assert.deepEqual(summaryOf('good', 'bad', 'good', '__proto__'), {
      categories: Object.fromEntries([
        ['__proto__', 1],
        ['bad', 1],
        ['good', 2],
      ]),
      count: 4,
      row_count: 4,
    })
  })

  it('leaves out free text inside a score, and counts a score that is free text', () => {
    assert.deepEqual(summaryOf({ reason: 'x'.repeat(65), ok: true }), {
      ok: { true_count: 1, true_fraction: 1, count: 1, row_count: 1 },
    })
    const texts = (count: number) => Array.from({ length: count }, (_, at) => `text ${at}`)
    assert.deepEqual(summaryOf(...texts(51)), { other_count: 51, row_count: 51 })
    assert.equal((summaryOf(...texts(50)) as { count: number }).count, 50)
  })

  it('summarizes objects field by field and has no figures of lists', () => {
    assert.deepEqual(summaryOf({ a: { b: true }, list: [1] }, { a: { b: false, c: 'x' }, list: [2] }), {
      a: {
        b: { true_count: 1, true_fraction: 0.5, count: 2, row_count: 2 },
        c: { categories: { x: 1 }, count: 1, none_count: 1, row_count: 2 },
      },
    })
    assert.deepEqual(summaryOf([1], [2]), { other_count: 2, row_count: 2 })
  })

  for (const [what, unscored] of [
    ['null', [scoredRow(null)]],
    ['{}', [scoredRow({})]],
    ['absent, since the prediction crashed', [{}]],
  ] as const)
    it(`counts a row against the fraction when its score is ${what}`, () => {
      const rows = [scoredRow(true), ...Array.from({ length: 9 }, () => unscored[0])]
      const figures = { true_count: 1, true_fraction: 0.1, count: 1, none_count: 9, row_count: 10 }
      assert.deepEqual(summaryOfRows(rows)['s'], figures)
      assert.deepEqual(summaryOfRows(rows.toReversed())['s'], figures)
    })

  it('counts a row against the fraction of a field that its score lacks', () => {
    for (const lacking of [{ other: 1 }, { ok: null }, { ok: {} }, null, {}])
      assert.deepEqual((summaryOf({ ok: true }, lacking) as { ok: Json }).ok, {
        true_count: 1,
        true_fraction: 0.5,
        count: 1,
        none_count: 1,
        row_count: 2,
      })
  })

  it('says over how many of how many rows a mean is', () => {
    assert.deepEqual(summaryOf(2, null, {}, 2), { ...same(2), count: 2, none_count: 2, row_count: 4 })
    assert.deepEqual(summaryOf(null, null), { none_count: 2, row_count: 2 })
    assert.deepEqual(summaryOf(Infinity, 1), { ...same(1), count: 1, other_count: 1, row_count: 2 })
  })

  it('keeps the mean of numbers beside error objects', () => {
    const { mean, count, other_count, row_count, error } = summaryOf(0.9, 0.8, TIMEOUT) as Record<
      string,
      Json
    >
    assert.ok(Math.abs((mean as number) - 0.85) < 1e-9)
    assert.deepEqual([count, other_count, row_count], [2, 1, 3])
    assert.deepEqual(error, { categories: { timeout: 1 }, count: 1, none_count: 2, row_count: 3 })
    assert.equal((summaryOf(0.9, TIMEOUT, TIMEOUT, 'n/a', 'n/a') as { mean: number }).mean, 0.9)
  })

  it('keeps the fraction of booleans beside error objects and texts', () => {
    const { error: _, ...figures } = summaryOf(true, false, true, TIMEOUT) as Record<string, Json>
    assert.deepEqual(figures, { true_count: 2, true_fraction: 0.5, count: 3, other_count: 1, row_count: 4 })
    assert.deepEqual(summaryOf(true, true, 'n/a'), {
      true_count: 2,
      true_fraction: 2 / 3,
      categories: { 'n/a': 1 },
      count: 2,
      other_count: 1,
      row_count: 3,
    })
  })

  it('has the figures of numbers and of booleans side by side', () => {
    const { mean, true_fraction, count, other_count } = summaryOf(true, 0, 1, false) as Record<string, Json>
    assert.deepEqual([mean, true_fraction, count, other_count], [0.5, 0.25, 2, 2])
  })

  it('has the figures of a field beside those of its members', () => {
    assert.deepEqual(summaryOf({ v: 1 }, { v: true }, { v: { w: 2 } }), {
      v: {
        ...same(1),
        true_count: 1,
        true_fraction: 1 / 3,
        count: 1,
        other_count: 2,
        row_count: 3,
        w: { ...same(2), count: 1, none_count: 2, row_count: 3 },
      },
    })
  })

  it('keeps a figure when a member of another score has its name', () => {
    assert.equal((summaryOf(0.5, 0.5, { mean: 9 }) as { mean: Json }).mean, 0.5)
  })

  it('keeps keys with dots apart from nested keys', () => {
    const score = { 'a.b': 1, a: { b: 0 } }
    assert.deepEqual(summaryOf(score, score), {
      'a.b': { ...same(1), count: 2, row_count: 2 },
      a: { b: { ...same(0), count: 2, row_count: 2 } },
    })
  })

  it('has an entry for a named scorer without scores, and is empty without rows', () => {
    const summary = newRunSummary(['exact'])
    assert.deepEqual(summary.result(), { exact: {}, model_latency: { mean: null, count: 0, row_count: 0 } })
    summary.add({ scores: {}, modelLatency: 2 })
    summary.add({ scores: {}, modelLatency: null })
    assert.deepEqual(summary.result(), {
      exact: { none_count: 2, row_count: 2 },
      model_latency: { mean: 2, count: 1, row_count: 2 },
    })
  })

  it('stays finite for numbers whose sum is not', () => {
    const { mean, stddev } = summaryOf(1.7e308, 1.7e308) as { mean: number; stddev: number }
    assert.deepEqual([mean, stddev], [1.7e308, 0])
    assert.equal((summaryOf(1.7e308, -1.7e308) as { mean: number }).mean, 0)
  })

  it('counts what it leaves out beyond the bounds of depth, name and fields', () => {
    const nested = Array.from({ length: 9 }).reduce<Json>((inner) => ({ a: inner }), 1)
    assert.deepEqual(summaryOf(nested, { ok: 1 }), {
      ok: { ...same(1), count: 1, none_count: 1, row_count: 2 },
      left_out_count: 1,
    })
    assert.equal((summaryOf({ ['x'.repeat(257)]: 1, y: 1 }) as { left_out_count: number }).left_out_count, 1)
    const wide = (from: number) =>
      Object.fromEntries(Array.from({ length: 1500 }, (_, at) => [`field ${from + at}`, at]))
    const summary = summaryOf(wide(2000), wide(1000)) as { left_out_count: number }
    const fields = Object.entries(summary).filter(([name]) => name.startsWith('field'))
    // One field is the score itself.
    assert.equal(fields.length, 999)
    const counted = fields.reduce(
      (sum, [, figures]) => sum + (figures as unknown as { count: number }).count,
      0,
    )
    assert.equal(counted + summary.left_out_count, 3000)
    assert.ok('field 1000' in summary)
  })
})
