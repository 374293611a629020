import assert from 'node:assert/strict'
import * as E from 'fp-ts/lib/Either.js'
import fc from 'fast-check'
import { compileRe2 } from '../../../../../src/adapters/patterns/re2.js'
import {
  condition,
  EVENT_TYPES,
  runFilters,
  scope,
} from '../../../../../src/domain/webhooks/automations/events.js'
import {
  completeWatchConfig,
  type WatchConfig,
} from '../../../../../src/domain/webhooks/automations/watch-config.js'
import { arbitraryOf } from '../../../../support/arbitrary-of-codec.js'
import { arbitraryOperation } from '../../../../support/expression/arbitrary.js'
import { complete } from './matching/given.js'

const check = (watched: WatchConfig) => completeWatchConfig(compileRe2, 'team', watched)

const watched = (
  event: object,
  of: object = { type: 'project', project: 'p' },
  filters: object | null = null,
) => {
  const result = check({
    scope: complete(scope, of),
    event: complete(condition, event),
    run_filters: filters && complete(runFilters, filters),
    query: null,
  })
  return E.isRight(result) ? result.right : assert.fail(JSON.stringify(result.left))
}

const LEAST: Readonly<Record<(typeof EVENT_TYPES)[number], object>> = {
  ADD_ARTIFACT_ALIAS: { alias_pattern: 'a' },
  ADD_ARTIFACT_TAG: {},
  REMOVE_ARTIFACT_TAG: {},
  CREATE_ARTIFACT: {},
  LINK_ARTIFACT: {},
  UNLINK_ARTIFACT: {},
  RUN_METRIC: { metric: 'm', comparison: '$gt', threshold: 1 },
  RUN_METRIC_CHANGE: { metric: 'm', change_type: 'ABSOLUTE', change_amount: 1 },
  RUN_METRIC_ZSCORE: { metric: 'm', threshold: 3 },
  RUN_STATE: { states: ['FAILED'] },
  CALL_FAILED: {},
  CALL_USAGE_THRESHOLD: { measure: 'total_tokens', comparison: '$gt', threshold: 1 },
  WEBHOOK_DISABLED: {},
  WEBHOOK_FAILING: {},
  DELIVERY_DEAD: {},
  BUDGET_REACHED: {},
  EVALUATION_FINISHED: {},
  SCORE_THRESHOLD: { scorer: 's', comparison: '$lt', threshold: 1 },
}
const scopeFor = (type: string): object =>
  /^(WEBHOOK|DELIVERY|BUDGET)/.test(type)
    ? { type: 'team' }
    : /LINK_/.test(type)
      ? { type: 'registry', registry: 'r' }
      : { type: 'project', project: 'p' }

describe('what an automation watches for', () => {
  for (const type of EVENT_TYPES)
    it(`may be ${type} with the least that it needs`, () => {
      const made = watched({ type, ...LEAST[type] }, scopeFor(type))
      assert.deepEqual(check(made), E.right(made))
      for (const field of Object.keys(LEAST[type])) {
        const without = check({ ...made, event: { ...made.event, [field]: null } })
        assert.ok(E.isLeft(without))
        assert.deepEqual(without.left[0], { loc: ['event', field], type: 'missing', msg: 'Field required' })
      }
    })

  it('is completed with what is usual', () => {
    const metric = watched({ type: 'RUN_METRIC', ...LEAST.RUN_METRIC })
    assert.deepEqual([metric.event.window, metric.event.aggregation, metric.scope.entity], [1, null, 'team'])
    const change = watched({
      type: 'RUN_METRIC_CHANGE',
      ...LEAST.RUN_METRIC_CHANGE,
      aggregation: 'MAX',
      window: 5,
    })
    assert.deepEqual([change.event.prior_window, change.event.change_direction], [5, 'ANY'])
    assert.equal(watched({ type: 'RUN_METRIC_ZSCORE', ...LEAST.RUN_METRIC_ZSCORE }).event.window, 30)
    assert.equal(watched({ type: 'RUN_METRIC', ...LEAST.RUN_METRIC }, undefined, {}).run_filters, null)
  })

  it('names outcomes and the pattern of evaluations, if any', () => {
    const finished = watched({ type: 'EVALUATION_FINISHED' })
    assert.deepEqual([finished.event.outcomes, finished.event.evaluation_pattern], [null, null])
    const problemsOf = (event: object) => {
      const result = check({ ...finished, event: complete(condition, event) })
      return E.isLeft(result) ? result.left.map(({ loc }) => loc) : []
    }
    const type = 'EVALUATION_FINISHED'
    assert.deepEqual(problemsOf({ type, outcomes: [] }), [['event', 'outcomes']])
    assert.deepEqual(problemsOf({ type, evaluation_pattern: '(' }), [['event', 'evaluation_pattern']])
    assert.deepEqual(problemsOf({ type, scorer: 's' }), [['event', 'scorer']])
  })

  it('is complete for good, or refused with places that are there', () =>
    fc.assert(
      fc.property(
        fc.record({
          scope: arbitraryOf(scope),
          event: arbitraryOf(condition),
          run_filters: fc.option(arbitraryOf(runFilters)),
          query: fc.option(arbitraryOperation.map(($expr) => ({ $expr }))),
        }),
        (proposed) => {
          const result = check(proposed)
          if (E.isRight(result)) assert.deepEqual(check(result.right), result)
          else
            for (const { loc, msg } of result.left) {
              assert.ok(['scope', 'event', 'run_filters', 'query'].includes(String(loc[0])))
              assert.ok(msg !== '')
            }
        },
      ),
      { numRuns: 500 },
    ))
})
