import assert from 'node:assert/strict'
import fc from 'fast-check'
import { scoredRow, summaryOf as summaryOfScores } from './given.js'
import type { Json, JsonObject } from '../../../../src/kernel/json/json.js'
import { arbitraryModestJson } from '../../../support/arbitrary-json.js'

const summaryOf = (scores: readonly Json[]): Json => summaryOfScores(scores.map(scoredRow))['s'] ?? {}

const number = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer())
const scalar = fc.oneof(number, fc.boolean(), fc.constant(null), fc.constantFrom('good', 'bad'), fc.string())
const score = fc.oneof(
  arbitraryModestJson,
  scalar,
  fc.dictionary(fc.constantFrom('a', 'b', 'mean'), scalar),
  fc
    .array(fc.tuple(fc.nat(400), scalar), { minLength: 100 })
    .map<Json>((members) => Object.fromEntries(members.map(([at, value]) => [`f${at}`, value]))),
)

const isClose = (a: number, b: number, scale: number) => Math.abs(a - b) <= 1e-9 * Math.max(1, scale)

describe('summary of scores', () => {
  it('is the same for any order of the rows', () => {
    const orders = fc
      .array(score, { maxLength: 30 })
      .chain((scores) =>
        fc.tuple(fc.constant(scores), fc.shuffledSubarray(scores, { minLength: scores.length })),
      )
    fc.assert(
      fc.property(orders, ([scores, others]) => {
        assert.deepEqual(summaryOf(others), summaryOf(scores))
      }),
    )
  })

  it('has only values that JSON can write', () => {
    fc.assert(
      fc.property(fc.array(score, { maxLength: 20 }), (scores) => {
        const summary = summaryOf(scores)
        const text = JSON.stringify(summary, (_, value: unknown) =>
          typeof value === 'number' && !Number.isFinite(value) ? assert.fail('not finite') : value,
        )
        assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(summary)))
      }),
    )
  })

  it('has the figures of numbers by their definitions', () => {
    const small = fc.double({ min: -1e6, max: 1e6, noNaN: true })
    fc.assert(
      fc.property(fc.array(small, { minLength: 1, maxLength: 50 }), (numbers) => {
        const summary = summaryOf(numbers) as Record<string, number>
        const mean = numbers.reduce((sum, value) => sum + value, 0) / numbers.length
        const variance = numbers.reduce((sum, value) => sum + (value - mean) ** 2, 0) / numbers.length
        assert.ok(isClose(summary['mean']!, mean, 1e6))
        assert.ok(isClose(summary['stddev']! ** 2, variance, 1e12))
        assert.equal(summary['min'], Math.min(...numbers))
        assert.equal(summary['max'], Math.max(...numbers))
        assert.equal(summary['count'], numbers.length)
        for (const [name, fraction] of [
          ['p50', 0.5],
          ['p95', 0.95],
        ] as const) {
          const most = numbers.filter((value) => value < summary[name]!).length
          const least = numbers.filter((value) => value <= summary[name]!).length
          assert.ok(
            most <= Math.ceil(fraction * (numbers.length - 1)) && least >= fraction * (numbers.length - 1),
          )
        }
      }),
    )
  })

  it('counts every boolean and every null', () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.boolean()), { minLength: 1 }), (values) => {
        const { true_count = 0, count = 0, none_count = 0 } = summaryOf(values) as Record<string, number>
        assert.equal(true_count, values.filter((value) => value === true).length)
        assert.equal(count + none_count, values.length)
      }),
    )
  })

  it('puts the summary of an object together from those of its fields', () => {
    const fields = fc.record({ a: fc.boolean(), b: fc.record({ c: number }) })
    fc.assert(
      fc.property(fc.array(fields, { minLength: 1 }), (scores) => {
        const { a, b } = summaryOf(scores) as JsonObject
        assert.deepEqual(a, summaryOf(scores.map((one) => one.a)))
        assert.deepEqual(b, { c: summaryOf(scores.map((one) => one.b.c)) })
      }),
    )
  })
})
