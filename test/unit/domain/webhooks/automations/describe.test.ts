import assert from 'node:assert/strict'
import { describeAutomation } from '../../../../../src/domain/webhooks/automations/describe.js'
import type {
  AutomationCondition,
  AutomationScope,
} from '../../../../../src/domain/webhooks/automations/events.js'
import {
  completeWatchConfig,
  type WatchConfig,
} from '../../../../../src/domain/webhooks/automations/watch-config.js'
import { compileRe2 } from '../../../../../src/adapters/patterns/re2.js'
import { condition } from '../../../../../src/domain/webhooks/automations/events.js'
import * as E from 'fp-ts/lib/Either.js'

const project = { type: 'project', entity: 'acme', project: 'support', registry: null } as const
const registry = { type: 'registry', entity: 'acme', project: null, registry: 'models' } as const
const team = { type: 'team', entity: 'acme', project: null, registry: null } as const

const sentence = (
  event: Partial<AutomationCondition> & Pick<AutomationCondition, 'type'>,
  scope: AutomationScope = project,
  run_filters: WatchConfig['run_filters'] = null,
): string => {
  const decoded = condition.decode(event)
  assert.ok(E.isRight(decoded))
  const complete = completeWatchConfig(compileRe2, 'acme', {
    scope,
    event: decoded.right,
    run_filters,
    query: null,
  })
  assert.ok(E.isRight(complete), JSON.stringify(complete))
  return describeAutomation(complete.right, 'ci')
}

const METRIC = { metric: 'loss', comparison: '$lt', threshold: 0.1 } as const

describe('the sentence about an automation', () => {
  for (const [event, scope, expected] of [
    [
      { type: 'ADD_ARTIFACT_ALIAS', alias_pattern: '^prod' },
      registry,
      'an alias that matches ^prod is added to an artifact version in the registry models',
    ],
    [
      { type: 'ADD_ARTIFACT_TAG' },
      project,
      'a tag is added to an artifact version in the project acme/support',
    ],
    [
      { type: 'REMOVE_ARTIFACT_TAG', tag_pattern: 'x' },
      project,
      'a tag that matches x is removed from an artifact version in the project acme/support',
    ],
    [{ type: 'CREATE_ARTIFACT' }, project, 'an artifact version is created in the project acme/support'],
    [{ type: 'LINK_ARTIFACT' }, registry, 'an artifact version is linked to the registry models'],
    [{ type: 'UNLINK_ARTIFACT' }, registry, 'an artifact version is unlinked from the registry models'],
    [
      { type: 'RUN_METRIC', ...METRIC },
      project,
      'the last value of the metric loss of a run in the project acme/support is less than 0.1',
    ],
    [
      { type: 'RUN_METRIC', ...METRIC, aggregation: 'MAX', window: 5 },
      project,
      'the maximum of the last 5 values of the metric loss of a run in the project acme/support is less than 0.1',
    ],
    [
      { type: 'RUN_METRIC_CHANGE', metric: 'loss', change_type: 'RELATIVE', change_amount: 0.15 },
      project,
      'the last value of the metric loss of a run in the project acme/support changes by at least 15 % compared with the last value before',
    ],
    [
      { type: 'RUN_METRIC_ZSCORE', metric: 'loss', threshold: 3, change_direction: 'INCREASE' },
      project,
      'a value of the metric loss of a run in the project acme/support is at least 3 standard deviations above the average of the last 30 values before',
    ],
    [
      { type: 'RUN_STATE', states: ['FINISHED', 'FAILED'] },
      project,
      'a run in the project acme/support gets the state FINISHED or FAILED',
    ],
    [{ type: 'CALL_FAILED' }, project, 'a call in the project acme/support fails'],
    [
      { type: 'CALL_USAGE_THRESHOLD', measure: 'cost', comparison: '$gte', threshold: 1 },
      project,
      'the cost of a call in the project acme/support is at least 1',
    ],
    [{ type: 'WEBHOOK_DISABLED' }, team, 'a webhook of the team acme is disabled'],
    [{ type: 'WEBHOOK_FAILING' }, team, 'a webhook of the team acme has failed for an hour or a day'],
    [{ type: 'DELIVERY_DEAD' }, team, 'a delivery of the team acme is given up'],
    [{ type: 'BUDGET_REACHED' }, team, 'a budget of the team acme reaches one of its levels'],
    [
      { type: 'EVALUATION_FINISHED', outcomes: ['failed'], evaluation_pattern: 'nightly' },
      project,
      'an evaluation run of an evaluation that matches nightly in the project acme/support ends with the outcome failed',
    ],
    [
      { type: 'SCORE_THRESHOLD', scorer: 'exact', score_path: 'mean', comparison: '$lt', threshold: 0.5 },
      project,
      'the score at mean of the scorer exact in the project acme/support is less than 0.5',
    ],
  ] as const)
    it(`says: ${expected}`, () =>
      assert.equal(
        sentence(event as unknown as AutomationCondition, scope),
        `When ${expected}, the message is sent to the webhook "ci".`,
      ))

  it('names the filters of runs', () =>
    assert.equal(
      sentence({ type: 'RUN_STATE', states: ['FINISHED'] }, project, { user: 'ada', name_pattern: '^gpt' }),
      'When a run of the user ada with a name that matches ^gpt in the project acme/support gets the state FINISHED, ' +
        'the message is sent to the webhook "ci".',
    ))
})
