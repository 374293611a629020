import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  columnsOf,
  newLeaderboard,
  type LeaderboardRun,
} from '../../../../src/domain/evaluation/leaderboard.js'
import type { Json } from '../../../../src/domain/json/json.js'
import { at } from './given.js'

const column = (summary_metric_path: string, evaluation_object_ref = 'e') => ({
  ...{ evaluation_object_ref, scorer_name: 's', summary_metric_path, should_minimize: null },
})

const aRun = (more: Partial<LeaderboardRun> = {}): LeaderboardRun => ({
  ...{ id: 'run', evaluation: 'e', model: 'm', started_at: at(0), summary: {} },
  ...more,
})

describe('a leaderboard', () => {
  for (const [path, s, value] of [
    ['mean', { mean: 3 }, 3],
    ['a.b', { a: { b: true } }, true],
    ['a.1', { a: [1, 2] }, 2],
    ['a.c', { a: { b: 1 } }, null],
    ['a.b', 0.5, 0.5],
    ['a', {}, null],
  ] as const satisfies readonly (readonly [string, Json, Json])[])
    it(`has ${JSON.stringify(value)} for ${path} of ${JSON.stringify(s)}`, () => {
      const board = newLeaderboard([column(path)])
      board.add(aRun({ summary: { s } }))
      assert.equal(board.rows()[0]?.cells[0]?.value, value)
    })

  it('has the newest run of each evaluation and model, in whatever order runs are read', () => {
    const runs = [1, 2, 3, 4].map((n) =>
      aRun({ id: `${n}`, started_at: at(n), model: n % 2 === 0 ? 'even' : 'odd', summary: { s: n } }),
    )
    fc.assert(
      fc.property(fc.shuffledSubarray(runs, { minLength: 4 }), (shuffled) => {
        const board = newLeaderboard([column(''), column('', 'other')])
        shuffled.forEach((run) => board.add(run))
        const cells = new Map(board.rows().map(({ model, cells }) => [model, cells]))
        const expected = (n: number) => [{ value: n, evaluation_run_id: `${n}`, started_at: at(n) }, null]
        assert.deepEqual([cells.get('odd'), cells.get('even')], [expected(3), expected(4)])
      }),
    )
  })

  it('has columns also where their members have other types', () => {
    assert.deepEqual(columnsOf({ columns: [{ scorer_name: 7, should_minimize: true }, 'odd'] }), [
      { evaluation_object_ref: '', scorer_name: '', summary_metric_path: '', should_minimize: true },
    ])
    assert.deepEqual(columnsOf({}), [])
  })
})
