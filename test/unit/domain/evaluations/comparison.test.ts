import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { ScoredRow } from '../../../../src/domain/evaluations/row.js'
import type { Json } from '../../../../src/kernel/json/json.js'
import { compareRuns, aScoredRow } from './given.js'

const row = (exampleDigest: string, scores: Record<string, Json>, more: Partial<ScoredRow> = {}): ScoredRow =>
  aScoredRow({ id: `row of ${exampleDigest}`, exampleDigest, scores, ...more })

const run = (...rows: readonly ScoredRow[]) => rows

/** A run with one score of the name `s` for each value; the examples are a, b, c, … */
const scored = (...values: readonly Json[]): readonly ScoredRow[] =>
  run(...values.map((value, at) => row(String.fromCharCode(97 + at), { s: value })))

describe('compareRuns', () => {
  it('joins rows by example and trial, and counts unmatched rows', () => {
    const first = run(row('a', { s: 1 }), row('a', { s: 2 }), row('b', { s: 3 }))
    const second = run(row('c', { s: 9 }), row('a', { s: 10 }), row('a', { s: 20 }), row('a', { s: 30 }))
    const { runs, rows, scores } = compareRuns([first, second])
    assert.deepEqual(
      runs.map(({ unmatched }) => unmatched),
      [1, 2],
    )
    assert.deepEqual(
      rows.map(({ exampleDigest, occurrence, rows: pair }) => [
        exampleDigest,
        occurrence,
        pair[1]?.scores['s'],
      ]),
      [
        ['a', 0, 10],
        ['a', 1, 20],
      ],
    )
    assert.equal(scores[0]?.differences[0]?.difference, 13.5)
  })

  it('compares numbers with wins, losses, ties and an interval', () => {
    const { scores } = compareRuns([scored(1, 2, 3, 4), scored(2, 2, 5, 3)])
    const [score] = scores
    assert.deepEqual(score?.means, [2.5, 3])
    const { interval, ...figures } = score.differences[0] ?? assert.fail()
    assert.deepEqual(figures, { pairs: 4, difference: 0.5, pValue: null, wins: 2, losses: 1, ties: 1 })
    assert.ok(
      interval !== null && interval[0] >= -1 && interval[0] < 0.5 && interval[1] > 0.5 && interval[1] <= 2,
    )
  })

  it('compares booleans with the test of McNemar', () => {
    const { scores } = compareRuns([scored(true, true, true, false), scored(false, false, true, true)])
    const { interval, ...figures } = scores[0]?.differences[0] ?? assert.fail()
    assert.deepEqual(figures, { pairs: 4, difference: -0.25, pValue: 1, wins: 1, losses: 2, ties: 1 })
    assert.ok(interval !== null && interval[0] < -0.25 && interval[1] > -0.25)
    assert.equal(scores[0]?.kind, 'boolean')
    assert.deepEqual(scores[0].means, [0.75, 0.5])
  })

  it('counts a matched row without a boolean as not true', () => {
    for (const unscored of [null, {}, 'n/a', { error: 'timeout' }, undefined]) {
      const crashed = run(
        row('a', { s: true }),
        ...['b', 'c'].map((example) => row(example, unscored === undefined ? {} : { s: unscored })),
      )
      const { scores, rows } = compareRuns([scored(true, true, false), crashed])
      const found = scores.find(({ kind, path }) => kind === 'boolean' && path.length === 0)
      assert.deepEqual(
        [found?.means, found?.counts],
        [
          [2 / 3, 1 / 3],
          [3, 1],
        ],
      )
      const { pairs, wins, losses, ties } = found?.differences[0] ?? assert.fail()
      assert.deepEqual([pairs, wins, losses, ties], [3, 0, 1, 2])
      assert.deepEqual([rows[0]?.exampleDigest, rows[0]?.regression], ['b', 1])
    }
  })

  it('compares no booleans with a run that has none', () => {
    const { scores } = compareRuns([scored(true, false), scored(null, null)])
    assert.deepEqual(scores[0]?.means, [0.5, null])
    assert.equal(scores[0].differences[0]?.pairs, 0)
  })

  it('compares numbers and booleans of one field each for itself', () => {
    const { scores } = compareRuns([scored(true, 0, 1, false), scored(true, 1, 1, { error: 'timeout' })])
    assert.deepEqual(
      scores.map(({ kind, means, counts }) => [kind, means, counts]),
      [
        ['number', [0.5, 1], [2, 2]],
        ['boolean', [0.25, 0.25], [2, 1]],
      ],
    )
  })

  it('keeps keys with dots apart from nested keys', () => {
    const both = () => scored({ 'a.b': 1, a: { b: 0 } }, { 'a.b': 1, a: { b: 0 } })
    assert.deepEqual(
      compareRuns([both(), both()]).scores.map(({ path, means }) => [path, means]),
      [
        [
          ['a', 'b'],
          [0, 0],
        ],
        [['a.b'], [1, 1]],
      ],
    )
  })

  it('compares each field of each scorer, and skips rows without a number', () => {
    const first = run(
      row('a', { judge: { ok: true, points: 3, why: 'x' }, near: 1 }),
      row('b', { judge: null }),
    )
    const second = run(row('a', { judge: { ok: true, points: 4 } }), row('b', { judge: { points: 4 } }))
    const { scores } = compareRuns([first, second])
    assert.deepEqual(
      scores.map(({ scorer, path, differences }) => [scorer, path, differences[0]?.pairs]),
      [
        ['judge', ['ok'], 2],
        ['judge', ['points'], 1],
        ['near', [], 0],
      ],
    )
    assert.deepEqual(scores[2]?.differences[0], {
      pairs: 0,
      difference: null,
      interval: null,
      pValue: null,
      wins: 0,
      losses: 0,
      ties: 0,
    })
  })

  it('sorts the rows by the largest regression in any run', () => {
    const { rows } = compareRuns([scored(10, 10, 10, 0), scored(10, 5, 9, 10), scored(8, 10, 10, 10)])
    assert.deepEqual(
      rows.map(({ exampleDigest, regression }) => [exampleDigest, regression]),
      [
        ['b', 0.5],
        ['a', 0.2],
        ['c', 0.1],
        ['d', -1],
      ],
    )
  })

  it('takes a lower score as better where it is told so', () => {
    const { scores, rows } = compareRuns([scored(1, 5), scored(2, 4)], ({ scorer }) => scorer === 's')
    const { wins, losses, difference } = scores[0]?.differences[0] ?? assert.fail()
    assert.deepEqual([wins, losses, difference], [1, 1, 0])
    assert.equal(rows[0]?.exampleDigest, 'a')
  })

  it('has the mean cost and latency of each run', () => {
    const rows = [
      row('a', {}, { modelLatency: 1 }),
      row('b', {}, { modelLatency: 2, cost: 0.5 }),
      row('c', {}),
    ]
    const { runs } = compareRuns([rows, run()])
    assert.deepEqual(runs, [
      { rows: 3, unmatched: 3, leftOut: 0, meanCost: 0.5, meanLatency: 1.5 },
      { rows: 0, unmatched: 0, leftOut: 0, meanCost: null, meanLatency: null },
    ])
  })

  it('finds no difference between a run and itself', () => {
    const value = fc.oneof(
      fc.double({ noNaN: true }),
      fc.boolean(),
      fc.constant(null),
      fc.record({ x: fc.integer() }),
    )
    fc.assert(
      fc.property(fc.array(value, { maxLength: 20 }), (values) => {
        const { scores, rows, runs } = compareRuns([scored(...values), scored(...values)])
        for (const { differences } of scores) {
          const { pairs, difference, wins, losses, ties } = differences[0] ?? assert.fail()
          assert.deepEqual([difference, wins, losses, ties], [pairs === 0 ? null : 0, 0, 0, pairs])
        }
        assert.ok(rows.every(({ regression }) => regression === 0))
        assert.deepEqual(
          runs.map(({ unmatched }) => unmatched),
          [0, 0],
        )
      }),
      { numRuns: 30 },
    )
  })

  it('swaps wins and losses, and the sign of the difference, when the runs are swapped', () => {
    const values = fc.oneof(
      fc.array(fc.tuple(fc.integer({ min: -9, max: 9 }), fc.integer({ min: -9, max: 9 })), { maxLength: 15 }),
      fc.array(fc.tuple(fc.boolean(), fc.boolean()), { maxLength: 15 }),
    )
    fc.assert(
      fc.property(values, (pairs) => {
        const runs = [scored(...pairs.map(([a]) => a)), scored(...pairs.map(([, b]) => b))]
        const there = compareRuns(runs).scores[0]?.differences[0]
        const back = compareRuns(runs.toReversed()).scores[0]?.differences[0]
        assert.deepEqual([back?.wins, back?.losses, back?.ties], [there?.losses, there?.wins, there?.ties])
        assert.ok(Math.abs((back?.difference ?? 0) + (there?.difference ?? 0)) < 1e-9)
        assert.equal(back?.pValue, there?.pValue)
      }),
      { numRuns: 30 },
    )
  })
})
