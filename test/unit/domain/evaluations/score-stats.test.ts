import assert from 'node:assert/strict'
import fc from 'fast-check'
import { newScoreStats } from '../../../../src/domain/evaluations/score-stats.js'
import type { Json } from '../../../../src/kernel/json/json.js'

const statsOf = (trials: readonly Readonly<Record<string, Json>>[]) => {
  const stats = newScoreStats()
  for (const trial of trials) stats.add(trial)
  return stats.result()
}

describe('statistics of scores', () => {
  it('count each leaf of a score', () => {
    const { trials, stats } = statsOf([
      { exact: true, judge: { points: 1, why: 'good', nested: { ok: false } } },
      { exact: false, judge: { points: 0.5 } },
      { exact: null, judge: null },
      { exact: true },
    ])
    assert.equal(trials, 4)
    const none = { numeric_count: 0, numeric_mean: null, pass_known_count: 0, pass_true_count: 0 }
    const unknown = { pass_rate: null, pass_signal_coverage: null, trial_count: 4 }
    assert.deepEqual(stats, [
      {
        ...none,
        ...unknown,
        scorer_key: 'exact',
        path: null,
        value_type: 'binary',
        pass_known_count: 3,
        pass_true_count: 2,
        pass_rate: 2 / 3,
        pass_signal_coverage: 0.75,
      },
      {
        ...none,
        ...unknown,
        scorer_key: 'judge',
        path: 'points',
        value_type: 'continuous',
        numeric_count: 2,
        numeric_mean: 0.75,
      },
      { ...none, ...unknown, scorer_key: 'judge', path: 'why', value_type: 'text' },
      {
        ...none,
        ...unknown,
        scorer_key: 'judge',
        path: 'nested.ok',
        value_type: 'binary',
        pass_known_count: 1,
        pass_rate: 0,
        pass_signal_coverage: 0.25,
      },
    ])
  })

  it('equal sums over all trials', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.integer(), fc.boolean(), fc.constant(null))), (values) => {
        const [stat] = statsOf(values.map((value) => ({ s: value }))).stats
        const numbers = values.filter((value) => typeof value === 'number')
        const booleans = values.filter((value) => typeof value === 'boolean')
        assert.equal(stat?.numeric_count ?? 0, numbers.length)
        assert.equal(stat?.pass_known_count ?? 0, booleans.length)
        assert.equal(stat?.pass_true_count ?? 0, booleans.filter((value) => value).length)
        if (numbers.length > 0)
          assert.ok(Math.abs(stat!.numeric_mean! * numbers.length - numbers.reduce((a, b) => a + b, 0)) < 1)
      }),
    )
  })

  it('keep a bounded number of leaves', () => {
    const { stats } = statsOf(Array.from({ length: 2000 }, (_, n) => ({ s: { [`key${n}`]: n } })))
    assert.equal(stats.length, 1000)
  })
})
