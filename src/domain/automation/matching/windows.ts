import type { AutomationCondition } from '../events.js'
import type { Figure, Unmet } from './verdict.js'

export const USUAL_ZSCORE_WINDOW = 30

/** How many values of a run's metric a condition looks at, the newest among them: `now`, and `prior` before those. */
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

/** What the newest values say: the figure and whether it meets the condition, or why there is none. */
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
      return against(condition, aggregated(aggregation, now))
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

/** A value against a condition's `comparison` and `threshold`. */
export const against = (
  { comparison, threshold }: Pick<AutomationCondition, 'comparison' | 'threshold'>,
  value: number,
): Compared => {
  if (threshold === null) return { value, threshold: NaN, met: false }
  const side = value === threshold ? 0 : value < threshold ? -1 : 1
  return { value, threshold, met: meets(comparison, side) }
}

/** Whether what lies below, on or above the line of a comparison meets it. */
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
    case null:
      return false
    default:
      return comparison satisfies never
  }
}

/** Whether something moved as far as it should, or further, in the direction of the condition. */
const moved = (
  { change_direction }: Pick<AutomationCondition, 'change_direction'>,
  value: number,
  amount: number | null,
): Compared => {
  const far =
    change_direction === 'INCREASE' ? value : change_direction === 'DECREASE' ? -value : Math.abs(value)
  return { value, threshold: amount ?? NaN, met: amount !== null && far >= amount }
}

/** Without an aggregation, the newest. */
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

/** Never beyond the smallest and the largest, as rounding would have it: equal values have themselves as their average. */
const average = (values: readonly number[]): number =>
  Math.min(Math.max(meanOf(values), smallest(values)), largest(values))

/** Where the sum is too large for a number, the values are made smaller first. */
const meanOf = (values: readonly number[]): number => {
  const sum = values.reduce((a, b) => a + b, 0)
  return Number.isFinite(sum)
    ? sum / values.length
    : values.reduce((a, value) => a + value / values.length, 0)
}

const largest = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b))
const smallest = (values: readonly number[]): number => values.reduce((a, b) => Math.min(a, b))
