import type { AutomationCondition } from '../events.js'
import type { Figure, Unmet } from './verdict.js'

export const USUAL_ZSCORE_WINDOW = 30

/** The number of values that a condition reads: the newest `now`, and the `prior` before those. */
interface Spans {
  readonly metric: string
  readonly now: number
  readonly prior: number
}

export const spansOf = ({ type, metric, window, prior_window }: AutomationCondition): Spans | undefined => {
  if (metric === null) return undefined
  switch (type) {
    case 'RUN_METRIC':
      return { metric, now: window ?? 1, prior: 0 }
    case 'RUN_METRIC_CHANGE':
      return { metric, now: window ?? 1, prior: prior_window ?? window ?? 1 }
    case 'RUN_METRIC_ZSCORE':
      return { metric, now: 1, prior: window ?? USUAL_ZSCORE_WINDOW }
    default:
      return undefined
  }
}

/** Computes the figure over the newest values and compares it, or returns why there is none. */
export const judgeValues = (
  condition: AutomationCondition,
  { metric, now, prior }: Spans,
  values: readonly number[],
): Figure | Unmet => {
  const needs = now + prior
  const last = values.slice(-needs)
  if (last.length < needs) return { why: 'window_not_full', has: last.length, needs }
  const judged = compared(condition, last.slice(prior), last.slice(0, prior))
  if ('why' in judged) return judged
  const { value, threshold, met } = judged
  return met
    ? { metric_name: metric, metric_value: value, threshold }
    : { why: 'threshold', value, threshold }
}

interface Compared {
  readonly value: number
  readonly threshold: number
  readonly met: boolean
}

const compared = (
  condition: AutomationCondition,
  now: readonly number[],
  prior: readonly number[],
): Compared | Unmet => {
  const { type, aggregation } = condition
  switch (type) {
    case 'RUN_METRIC':
      return compareToThreshold(condition, aggregated(aggregation, now))
    case 'RUN_METRIC_CHANGE': {
      const before = aggregated(aggregation, prior)
      const change = aggregated(aggregation, now) - before
      if (condition.change_type !== 'RELATIVE') return moved(condition, change, condition.change_amount)
      if (before === 0) return { why: 'prior_is_zero' }
      return moved(condition, change / Math.abs(before), condition.change_amount)
    }
    case 'RUN_METRIC_ZSCORE': {
      const mean = average(prior)
      const deviation = Math.sqrt(average(prior.map((value) => (value - mean) ** 2)))
      if (deviation === 0) return { why: 'no_deviation' }
      return moved(condition, (now[0]! - mean) / deviation, condition.threshold)
    }
    default:
      return { why: 'event_type' }
  }
}

/** Compares a value with a condition's `comparison` and `threshold`. */
export const compareToThreshold = (
  { comparison, threshold }: Pick<AutomationCondition, 'comparison' | 'threshold'>,
  value: number,
): Compared => {
  if (threshold === null) return { value, threshold: NaN, met: false }
  const side = value === threshold ? 0 : value < threshold ? -1 : 1
  return { value, threshold, met: meets(comparison, side) }
}

/** Whether the comparison accepts a value below (-1), at (0) or above (1) the threshold. */
export const meets = (comparison: AutomationCondition['comparison'], side: -1 | 0 | 1): boolean => {
  switch (comparison) {
    case '$gt':
      return side > 0
    case '$gte':
      return side >= 0
    case '$lt':
      return side < 0
    case '$lte':
      return side <= 0
    case '$eq':
      return side === 0
    case '$ne':
      return side !== 0
    case null:
      return false
    default:
      return comparison satisfies never
  }
}

/** Whether the change reached the threshold in the condition's direction. */
const moved = (
  { change_direction }: Pick<AutomationCondition, 'change_direction'>,
  value: number,
  amount: number | null,
): Compared => {
  const far =
    change_direction === 'INCREASE' ? value : change_direction === 'DECREASE' ? -value : Math.abs(value)
  return { value, threshold: amount ?? NaN, met: amount !== null && far >= amount }
}

/** Without an aggregation, the newest value. */
const aggregated = (how: AutomationCondition['aggregation'], values: readonly number[]): number => {
  switch (how) {
    case 'MAX':
      return largest(values)
    case 'MIN':
      return smallest(values)
    case 'AVERAGE':
      return average(values)
    case null:
      return values.at(-1)!
    default:
      return how satisfies never
  }
}

/** Clamped to minimum and maximum, so that rounding cannot move the average of equal values. */
const average = (values: readonly number[]): number =>
  Math.min(Math.max(meanOf(values), smallest(values)), largest(values))

/** Scales the values down first if their sum would overflow. */
const meanOf = (values: readonly number[]): number => {
  const sum = values.reduce((a, b) => a + b, 0)
  return Number.isFinite(sum)
    ? sum / values.length
    : values.reduce((a, value) => a + value / values.length, 0)
}

const largest = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b))
const smallest = (values: readonly number[]): number => values.reduce((a, b) => Math.min(a, b))
