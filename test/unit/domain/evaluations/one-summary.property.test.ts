import assert from 'node:assert/strict'
import fc from 'fast-check'
import { scorerStat } from '../../../../src/application/evaluations/results.js'
import { newLeaderboard } from '../../../../src/domain/evaluations/leaderboard.js'
import { newRunScores } from '../../../../src/domain/evaluations/run-scores.js'
import { judgeEvaluation } from '../../../../src/domain/webhooks/automations/matching/evaluations.js'
import type { EvaluationTrigger } from '../../../../src/domain/webhooks/automations/matching/trigger.js'
import type { Instant } from '../../../../src/kernel/codec/instant.js'
import { isJsonObject, type Json, type JsonObject } from '../../../../src/kernel/json/json.js'
import { contentOf } from '../webhooks/automations/matching/given.js'
import { compareRuns, aScoredRow, summaryOf } from './given.js'

const number = fc.oneof(fc.integer({ min: -5, max: 5 }), fc.double({ min: -9, max: 9, noNaN: true }))
const scalar = fc.oneof(number, fc.boolean(), fc.constant(null), fc.constantFrom('good', 'bad'))
const error = fc.constant<Json>({ error: 'timeout' })
const nested = fc.dictionary(fc.constantFrom('a', 'b', 'a.b'), fc.oneof(scalar, fc.record({ b: scalar })))
const score: fc.Arbitrary<Json> = fc.oneof(
  scalar,
  error,
  nested as fc.Arbitrary<Json>,
  fc.constant<Json>([1]),
)
const rows = fc.array(fc.dictionary(fc.constantFrom('s', 't'), score), { minLength: 1, maxLength: 12 })

const at = (value: Json | undefined, path: readonly string[]): Json | undefined =>
  path.reduce<Json | undefined>((reached, name) => (isJsonObject(reached) ? reached[name] : undefined), value)

const EVALUATION = 'weave:///team/p/object/capitals:v0'

/** The value in the cell of a leaderboard for a metric of a run. */
const cellOf = (summary: JsonObject, scorer_name: string, summary_metric_path: string): Json | undefined => {
  const column = { evaluation_object_ref: EVALUATION, scorer_name, summary_metric_path }
  const board = newLeaderboard([{ ...column, should_minimize: null, error: null }])
  const started_at = '2026-01-01T00:00:00.000000Z' as Instant
  board.add({ id: 'run', evaluation: EVALUATION, model: 'm', started_at, summary })
  return board.rows()[0]?.cells[0]?.value
}

/** The value that an automation compares for a metric of a run. */
const judgedOf = (summary: JsonObject, scorer: string, score_path: string): Json | undefined => {
  const condition = { type: 'SCORE_THRESHOLD', scorer, score_path, comparison: '$gt', threshold: -1e9 }
  const trigger = { summary } as EvaluationTrigger
  const verdict = judgeEvaluation(contentOf(condition).event, trigger, () => () => false)
  return verdict.matched ? verdict.figure?.metric_value : undefined
}

describe('figures of the scores of a run', () => {
  it('are the same in summaries, results, comparisons, leaderboards and thresholds', () => {
    fc.assert(
      fc.property(rows, (run) => {
        const summary = summaryOf(run)
        const scores = newRunScores()
        for (const row of run) scores.add(row)
        const compared = run.map((row, index) => aScoredRow({ exampleDigest: `${index}`, scores: row }))
        const { scores: inComparison } = compareRuns([compared, compared])
        for (const field of scores.result().fields) {
          const { scorer, path, kind } = field
          const stat = scorerStat(field, run.length) as Record<string, Json>
          const figures = at(summary[scorer], path) as Record<string, Json> | undefined
          const told = [field.count, field.noneCount, field.otherCount]
          assert.equal(
            told.reduce((sum, count) => sum + count, 0),
            run.length,
          )
          assert.equal(stat['trial_count'], run.length)
          if (kind !== null) {
            assert.equal(figures?.['row_count'], run.length)
            assert.deepEqual(
              [figures['count'], figures['none_count'] ?? 0, figures['other_count'] ?? 0],
              told,
            )
          }
          for (const [name, figure, kindOfFigure] of [
            ['mean', stat['numeric_mean'], 'number'],
            ['true_fraction', stat['pass_rate'], 'boolean'],
          ] as const) {
            assert.equal(figures?.[name] ?? null, figure)
            const means = inComparison.find(
              (one) =>
                one.kind === kindOfFigure &&
                one.scorer === scorer &&
                JSON.stringify(one.path) === JSON.stringify(path),
            )?.means
            assert.equal(means?.[0] ?? null, figure)
            if (figure === null || path.some((key) => key.includes('.'))) continue
            const metric = [...path, name].join('.')
            assert.equal(cellOf(summary, scorer, metric), figure)
            assert.equal(judgedOf(summary, scorer, metric), figure)
          }
        }
      }),
    )
  })

  it('are those of the SDK, for which `{}` is a row without a score', () => {
    const sdk = (values: readonly (boolean | number | null)[]) => {
      const known = values.filter((value) => value !== null)
      if (known.length === 0) return undefined
      const sum = known.reduce<number>((total, value) => total + Number(value), 0)
      return typeof known[0] === 'boolean'
        ? { true_count: sum, true_fraction: sum / values.length }
        : { mean: sum / known.length }
    }
    const column = fc.oneof(
      fc.array(fc.option(fc.boolean()), { minLength: 1 }),
      fc.array(fc.option(fc.integer({ min: -99, max: 99 })), { minLength: 1 }),
    )
    fc.assert(
      fc.property(column, fc.boolean(), (values, isNested) => {
        const scored = values.map((value) => ({ s: value === null ? {} : isNested ? { a: value } : value }))
        const summary = summaryOf(scored)['s']
        const figures = at(summary, isNested ? ['a'] : []) as Record<string, Json> | undefined
        for (const [name, figure] of Object.entries(sdk(values) ?? {}))
          assert.ok(Math.abs((figures?.[name] as number) - figure) < 1e-9, name)
      }),
    )
  })
})
