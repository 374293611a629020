import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { AutomationCondition } from '../../../../../../src/domain/webhooks/automations/events.js'
import { judgeValues, spansOf } from '../../../../../../src/domain/webhooks/automations/matching/windows.js'

const aCondition = (given: Partial<AutomationCondition>): AutomationCondition => ({
  ...({
    type: 'RUN_METRIC',
    metric: 'm',
    window: 3,
    prior_window: null,
    aggregation: null,
  } as AutomationCondition),
  ...given,
})
const judged = (given: Partial<AutomationCondition>, values: readonly number[]) => {
  const condition = aCondition(given)
  return judgeValues(condition, spansOf(condition)!, values)
}
const finite = fc.double({ noNaN: true, noDefaultInfinity: true })
const times = <A>(count: number, value: A): readonly A[] => Array.from({ length: count }, () => value)

describe('the values of a metric', () => {
  it('have no deviation where all are equal, whatever they are', () =>
    fc.assert(
      fc.property(finite, finite, fc.integer({ min: 2, max: 100 }), (value, next, window) => {
        const zscore = { type: 'RUN_METRIC_ZSCORE', window, threshold: 1 } as const
        assert.deepEqual(judged(zscore, [...times(window, value), next]), { why: 'no_deviation' })
      }),
      {
        examples: [
          [0.1, 0.05, 30],
          [0.1, 0.1000001, 30],
          [0.007, 0.008, 30],
        ],
      },
    ))

  it('have the average that all of them are', () =>
    fc.assert(
      fc.property(finite, fc.integer({ min: 1, max: 100 }), (value, window) => {
        const average = { aggregation: 'AVERAGE', window, threshold: value } as const
        const values = times(window, value)
        assert.ok('metric_value' in judged({ ...average, comparison: '$gte' }, values))
        assert.ok('why' in judged({ ...average, comparison: '$gt' }, values))
      }),
      {
        examples: [
          [0.1, 3],
          [0.1, 10],
        ],
      },
    ))

  it('have an average that none of them lies beyond', () =>
    fc.assert(
      fc.property(fc.array(finite, { minLength: 1, maxLength: 50 }), (values) => {
        const average = { aggregation: 'AVERAGE', window: values.length } as const
        const smallest = values.reduce((a, b) => Math.min(a, b))
        assert.ok('metric_value' in judged({ ...average, comparison: '$gte', threshold: smallest }, values))
      }),
    ))
})
