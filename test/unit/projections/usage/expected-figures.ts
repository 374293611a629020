import assert from 'node:assert/strict'
import type { Figures } from '../../../../src/projections/usage/stats/metric.js'
import { clamped } from '../../../support/oracle/figure.js'

/** How whole numbers that a metric adds up are told. */
interface Telling {
  readonly size: (value: bigint) => number
  readonly one: (value: bigint) => number
  readonly sum: (value: bigint) => number | bigint
  /** How far a percentile may be from a value, relative to it. */
  readonly lastDigit: number
}

const nearest = (value: bigint) => Number(clamped(value))
const COUNTS: Telling = { size: Number, one: nearest, sum: nearest, lastDigit: 0 }

const decimal = (value: bigint) => Number(`${value}e-12`)
/** Numbers of 10^-12, whose sums are exact. Percentiles are rounded twice. */
export const AMOUNTS: Telling = {
  size: decimal,
  one: decimal,
  sum: (value) => value,
  lastDigit: 2 * Number.EPSILON,
}

/** Everything that may be asked of a metric. */
export const FIGURES = {
  aggregations: ['sum', 'avg', 'min', 'max', 'count'],
  percentiles: [0, 37.5, 100],
} as const

/** The figures of a metric are those of these values. */
export const assertFigures = (
  metric: string,
  figures: Figures,
  exact: readonly bigint[],
  { size, one, sum, lastDigit }: Telling = COUNTS,
): void => {
  const all = exact.reduce((total, value) => total + value, 0n)
  const sorted = exact.map(one).sort((a, b) => a - b)
  const of = (name: string) => figures[`${metric}_${name}`]
  assert.equal(of('sum'), exact.length === 0 ? 0 : sum(all), metric)
  assert.equal(of('count'), exact.length)
  assertNear(of('avg'), exact.length === 0 ? 0 : size(all) / exact.length)
  assert.equal(of('min'), sorted[0] ?? null)
  assert.equal(of('max'), sorted.at(-1) ?? null)
  if (sorted.length === 0) {
    assert.deepEqual([of('p0'), of('p100')], [null, null])
    return
  }
  assertNear(of('p0'), sorted[0]!, Math.abs(sorted[0]!), lastDigit)
  assertNear(of('p100'), sorted.at(-1)!, Math.abs(sorted.at(-1)!), lastDigit)
  const place = 0.375 * (sorted.length - 1)
  const [below, above] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!]
  const largest = Math.max(Math.abs(below), Math.abs(above))
  assertNear(of('p37.5'), below + (place - Math.floor(place)) * (above - below), largest)
}

const assertNear = (actual: unknown, expected: number, size = Math.abs(expected), tolerance = 1e-9): void =>
  assert.ok(
    typeof actual === 'number' && Math.abs(actual - expected) <= tolerance * size,
    `${String(actual)} is not ${expected}`,
  )
