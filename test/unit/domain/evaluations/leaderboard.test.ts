import assert from 'node:assert/strict'
import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import {
  columnsOf,
  newLeaderboard,
  type LeaderboardRun,
} from '../../../../src/domain/evaluations/leaderboard.js'
import type { Json } from '../../../../src/kernel/json/json.js'
import { at } from './given.js'

const column = (summary_metric_path: string, evaluation_object_ref = 'e') => ({
  evaluation_object_ref,
  scorer_name: 's',
  summary_metric_path,
  should_minimize: null,
  error: null,
})

const aRun = (more: Partial<LeaderboardRun> = {}): LeaderboardRun => ({
  id: 'run',
  evaluation: 'e',
  model: 'm',
  started_at: at(0),
  summary: {},
  ...more,
})

describe('a leaderboard', () => {
  for (const [path, s, value] of [
    ['mean', { mean: 3 }, 3],
    ['a.b', { a: { b: true } }, true],
    ['a.1', { a: [1, 2] }, 2],
    ['a.c', { a: { b: 1 } }, null],
    ['a.b', 0.5, 0.5],
    ['a.b.c', { a: { b: 0.5 } }, 0.5],
    ['a.b', { 'a.b': 2 }, 2],
    ['a\\.b', { 'a.b': 2, a: { b: 1 } }, 2],
    ['a.b.mean', { 'a.b': { mean: 4 } }, 4],
    ['', { '': 1 }, null],
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

  const valid = {
    evaluation_object_ref: 'weave:///team/p/object/capitals:v0',
    scorer_name: 's',
    summary_metric_path: 'mean',
  }
  const { evaluation_object_ref: _, ...withoutRef } = valid

  for (const [column, error] of [
    ['odd', /^Input should be/],
    [null, /^Input should be/],
    [withoutRef, /^evaluation_object_ref: Field required/],
    [{ ...valid, evaluation_object_ref: 'capitals' }, /^evaluation_object_ref: .*reference/],
    [{ ...valid, evaluation_object_ref: 'weave:///team/p/call/1' }, /^evaluation_object_ref: .*reference/],
    [{ ...valid, evaluation_object_ref: 'weave:///team/p/op/capitals:v0' }, /^evaluation_object_ref: /],
    [{ ...valid, scorer_name: 7 }, /^scorer_name: .*string/],
    [{ ...valid, summary_metric_path: ['mean'] }, /^summary_metric_path: .*string/],
    [{ ...valid, summary_metric_path: 'a..b' }, /^summary_metric_path: .*empty key/],
    [{ ...valid, summary_metric_path: 'a\\' }, /^summary_metric_path: .*backslash/],
    [{ ...valid, summary_metric_path: 'a.'.repeat(100_000) }, /^summary_metric_path: .*at most/],
    [{ ...valid, should_minimize: 'yes' }, /^should_minimize: /],
  ] as const satisfies readonly (readonly [Json, RegExp])[])
    it(`has an error and no cells for the column ${JSON.stringify(column).slice(0, 150)}`, () => {
      const columns = columnsOf({ columns: [column, valid] })
      assert.ok(E.isRight(columns))
      assert.match(columns.right[0]!.error ?? '', error)
      assert.deepEqual(columns.right[1], { ...valid, should_minimize: null, error: null })
      const board = newLeaderboard(columns.right)
      board.add(aRun({ evaluation: valid.evaluation_object_ref, summary: { s: { mean: 1 } } }))
      assert.deepEqual(
        board.rows()[0]!.cells.map((cell) => cell?.value ?? null),
        [null, 1],
      )
    })

  it('has no columns without a list of them, and an error for another value or too many', () => {
    assert.deepEqual(columnsOf({}), E.right([]))
    for (const columns of ['odd', 7, null, { 0: valid }, Array.from({ length: 201 }, () => valid)])
      assert.ok(E.isLeft(columnsOf({ columns })))
  })
})
