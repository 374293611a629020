import assert from 'node:assert/strict'
import type { JsonObject } from '../../../../../../src/kernel/json/json.js'
import { fieldsFor } from '../../../../../../src/domain/webhooks/automations/condition-fields.js'
import { triggerOf as trigger } from '../../../../../../src/domain/webhooks/automations/matching/trigger-of.js'
import type { RecordedEvent } from '../../../../../../src/kernel/ports/event-store.js'
import {
  IN_PROJECT,
  IN_REGISTRY,
  metricsEvent,
  ofProject,
  ofRegistry,
  recorded,
  runEvent,
  runFinished,
  scoreGiven,
  source,
} from './given.js'

const instant = '2026-01-01T00:00:00.000000Z'
const later = '2026-01-01T00:00:01.500000Z'
const usage = (models: JsonObject[] = []) => ({ models, status_total: null })

/** Also checks that a search by the types of its sources finds the event. */
const triggerOf = (event: RecordedEvent) => {
  const found = trigger(event)
  for (const type of found?.types ?? []) assert.ok(fieldsFor(type).sources.includes(event.type), type)
  return found
}

describe('what an event triggers', () => {
  it('is an alias, a tag or a version of a collection, in a project or a registry', () => {
    for (const [event, types, more] of [
      [
        recorded(IN_PROJECT, 'AliasAdded', { ...ofProject, alias: 'prod' }),
        ['ADD_ARTIFACT_ALIAS'],
        { alias: 'prod' },
      ],
      [
        recorded(IN_REGISTRY, 'AliasAdded', { ...ofRegistry, alias: 'prod' }),
        ['ADD_ARTIFACT_ALIAS'],
        { registry: 'models' },
      ],
      [
        recorded(IN_PROJECT, 'TagAdded', { ...ofProject, tag: 't' }),
        ['ADD_ARTIFACT_TAG'],
        { tag: 't', alias: null },
      ],
      [recorded(IN_PROJECT, 'TagRemoved', { ...ofProject, tag: 't' }), ['REMOVE_ARTIFACT_TAG'], { tag: 't' }],
      [
        recorded(IN_PROJECT, 'VersionCreated', {
          ...ofProject,
          artifact_id: 'a',
          digest: 'd',
          metadata: { k: 1 },
          created_at: instant,
        }),
        ['CREATE_ARTIFACT'],
        { shown: { version: 3, artifact_id: 'a', metadata: { k: 1 } } },
      ],
      [
        recorded(IN_REGISTRY, 'VersionLinked', { ...ofRegistry, source, metadata: { k: 1 } }),
        ['LINK_ARTIFACT'],
        { shown: { version: 3, artifact_id: 'art-1', metadata: { k: 1 } } },
      ],
      [
        recorded(IN_REGISTRY, 'VersionUnlinked', { ...ofRegistry, source }),
        ['UNLINK_ARTIFACT'],
        { shown: null },
      ],
    ] as const) {
      const trigger = triggerOf(event)
      assert.equal(trigger?.kind, 'artifact')
      assert.deepEqual(
        [trigger.types, trigger.team, trigger.author, trigger.depth],
        [types, 'team', 'ada', 0],
      )
      for (const [field, value] of Object.entries(more))
        assert.deepEqual(trigger[field as keyof typeof trigger], value)
    }
  })

  it('is the state or the metrics of a run', () => {
    const stateOf = (type: string, data: object) => {
      const trigger = triggerOf(runEvent(type, { ...data }))
      assert.ok(trigger?.kind === 'run')
      assert.deepEqual(trigger.types, ['RUN_STATE'])
      return trigger.state
    }
    assert.equal(stateOf('RunStarted', { started_at: instant }), 'RUNNING')
    assert.equal(stateOf('RunFinished', { state: 'finished', ended_at: instant }), 'FINISHED')
    assert.equal(stateOf('RunFailed', { state: 'failed', ended_at: instant }), 'FAILED')
    assert.equal(stateOf('RunFailed', { state: 'crashed', ended_at: instant }), 'FAILED')
    assert.equal(stateOf('RunFailed', { state: 'killed', ended_at: instant }), 'KILLED')
    const trigger = triggerOf(metricsEvent({ loss: 1 }))
    assert.ok(trigger?.kind === 'run')
    assert.deepEqual(trigger.types, ['RUN_METRIC', 'RUN_METRIC_CHANGE', 'RUN_METRIC_ZSCORE'])
    assert.deepEqual([trigger.state, trigger.rows, trigger.team], [null, [{ loss: 1 }], 'team'])
  })

  it('is a call that is known to its end', () => {
    const call = (type: string, data: object) => {
      const trigger = triggerOf(recorded('call-team/p/c', type, { project_id: 'team/p', id: 'c', ...data }))
      return trigger?.kind === 'call' ? trigger : undefined
    }
    const models = [
      { model: 'a', total_tokens: 10, input_tokens: 4, output_tokens: 5 },
      { model: 'b', prompt_tokens: 1, completion_tokens: 2 },
    ]
    const ended = call('CallEnded', { ended_at: later, usage: usage(models), exception: 'oh' })
    assert.deepEqual([ended?.failed, ended?.total_tokens, ended?.latency_ms], [true, 13, null])
    assert.deepEqual(ended?.types, ['CALL_FAILED', 'CALL_USAGE_THRESHOLD'])
    const started = { trace_id: 'c', started_at: instant }
    const whole = call('CallEnded', { ended_at: later, usage: usage(), start: started })
    assert.deepEqual([whole?.failed, whole?.total_tokens, whole?.latency_ms], [false, 0, 1500])
    const backwards = call('CallEnded', {
      ended_at: instant,
      usage: usage(),
      start: { ...started, started_at: later },
    })
    assert.equal(backwards?.latency_ms, null)
    const charged = { project_id: 'team/p', started_at: instant, models: usage().models }
    assert.deepEqual([ended.charged, whole?.charged], [null, charged])
    assert.equal(call('CallStarted', { started_at: instant }), undefined)
    const late = call('CallStarted', {
      started_at: instant,
      end: { ended_at: later, usage: usage(), exception: 'oh' },
    })
    assert.deepEqual(
      [late?.types, late?.latency_ms, late?.total_tokens, late?.failed],
      [['CALL_USAGE_THRESHOLD'], 1500, null, false],
    )
  })

  it('is a webhook that was disabled, or a delivery that is dead', () => {
    const disabled = triggerOf(
      recorded('webhook-w', 'WebhookDisabled', { id: 'w', team: 'team', reason: 'gone', depth: 2 }),
    )
    assert.deepEqual([disabled?.kind, disabled?.types, disabled?.depth], ['webhook', ['WEBHOOK_DISABLED'], 2])
    const failing = triggerOf(
      recorded('webhook-w', 'WebhookFailing', {
        id: 'w',
        team: 'team',
        failing_since: '2026-01-01T00:00:00.000000Z',
        hours: 24,
        depth: 1,
      }),
    )
    assert.deepEqual([failing?.kind, failing?.types, failing?.depth], ['webhook', ['WEBHOOK_FAILING'], 1])
    const finished = (outcome: string) =>
      triggerOf(
        recorded('delivery-d', 'AttemptFinished', {
          delivery_id: 'd',
          team: 'team',
          attempt: 1,
          outcome,
          phases: {},
        }),
      )
    assert.deepEqual([finished('dead')?.types, finished('dead')?.depth], [['DELIVERY_DEAD'], null])
    assert.deepEqual([finished('retry'), finished('succeeded')], [undefined, undefined])
  })

  it('is an evaluation run that finished, or a score that was given', () => {
    const finished = triggerOf(runFinished())
    assert.ok(finished?.kind === 'evaluation')
    assert.deepEqual(finished.types, ['EVALUATION_FINISHED', 'SCORE_THRESHOLD'])
    assert.deepEqual(
      [finished.run_id, finished.name, finished.evaluation, finished.outcome],
      ['r', 'nightly', 'capitals', 'completed'],
    )
    const score = triggerOf(scoreGiven({ passed: true }))
    assert.ok(score?.kind === 'score')
    assert.deepEqual(
      [score.types, score.call_id, score.scorer, score.score],
      [['SCORE_THRESHOLD'], 'c', 'exact', { passed: true }],
    )
    const onObject = triggerOf(scoreGiven(1, { weave_ref: 'weave:///team/p/object/o:v1' }))
    assert.ok(onObject?.kind === 'score' && onObject.call_id === null)
    assert.equal(triggerOf(scoreGiven(1, { feedback_type: 'wandb.note.1' })), undefined)
    assert.equal(triggerOf(scoreGiven(1, { project_id: 'other/p' })), undefined)
    assert.equal(triggerOf(runFinished({ project_id: 'other/p' })), undefined)
    assert.equal(triggerOf(runFinished({ outcome: 'unknown' })), undefined)
  })

  it('is a budget of which so many per cent are spent', () => {
    const data = {
      team: 'team',
      scope: { type: 'project', project: 'p' },
      budget: { amount: '4', period: 'day' },
      period: '2026-11-21',
      level: 80,
      spent: '3.3',
    }
    const trigger = triggerOf(recorded('limits-team', 'BudgetReached', data))
    assert.ok(trigger?.kind === 'budget')
    const { types, project, of, level, spent } = trigger
    assert.deepEqual([types, project, of, level, spent], [['BUDGET_REACHED'], 'p', 'project', 80, 82.5])
    assert.equal(triggerOf(recorded('limits-other', 'BudgetReached', data)), undefined)
    assert.equal(triggerOf(recorded('limits-team', 'LimitRemoved', data)), undefined)
  })

  it('is nothing for other events, and for those that are not what their stream says', () => {
    for (const event of [
      recorded(IN_PROJECT, 'AliasRemoved', { ...ofProject, alias: 'a' }),
      recorded(IN_PROJECT, 'Unheard', {}),
      recorded('object-team/p/o', 'AliasAdded', { ...ofProject, alias: 'a' }),
      recorded(IN_PROJECT, 'AliasAdded', { ...ofProject, collection: 'other', alias: 'a' }),
      recorded('artifact-other/p/model', 'AliasAdded', { ...ofProject, project_id: 'other/p', alias: 'a' }),
      recorded(IN_PROJECT, 'AliasAdded', { ...ofProject, alias: 7 }),
      recorded('run-team/other/r', 'MetricsLogged', metricsEvent({ a: 1 }).data),
      recorded('call-team/p/other', 'CallEnded', { project_id: 'team/p', id: 'c', usage: usage() }),
      recorded('call-team/p/c', 'CallEnded', {}),
      recorded('webhook-other', 'WebhookDisabled', { id: 'w', team: 'team', reason: 'gone', depth: 0 }),
      recorded('constructor-x', 'AliasAdded', {}),
      recorded('nodash', 'AliasAdded', {}),
    ])
      assert.equal(triggerOf(event), undefined, `${event.stream} ${event.type}`)
  })
})
