import assert from 'node:assert/strict'
import { compileRe2 } from '../../../../../../src/adapters/patterns/re2.js'
import {
  judge,
  valuesNeeded,
  type JudgeContext,
} from '../../../../../../src/domain/webhooks/automations/matching/judge.js'
import { cachedPatterns } from '../../../../../../src/kernel/patterns.js'
import { triggerOf } from '../../../../../../src/domain/webhooks/automations/matching/trigger-of.js'
import type { AutomationVersion } from '../../../../../../src/domain/webhooks/automations/state.js'
import type { JsonObject } from '../../../../../../src/kernel/json/json.js'
import { amountFrom, type Amount } from '../../../../../../src/domain/prices/decimal.js'
import type { RecordedEvent } from '../../../../../../src/kernel/ports/event-store.js'
import {
  contentOf,
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
  triggerFrom,
  versionOf,
} from './given.js'

const pattern = cachedPatterns(compileRe2)
const HOUR = 3600 * 1000

interface Before {
  readonly values?: readonly number[]
  readonly lastMatch?: JudgeContext['lastMatch']
  readonly cost?: Amount
  readonly shown?: JudgeContext['shown']
}

const verdictOn = (
  automation: AutomationVersion | undefined,
  event: RecordedEvent,
  { values = [], lastMatch, cost, shown }: Before = {},
) => {
  const context: JudgeContext = {
    pattern,
    shown,
    values: (_, count) => (count === 0 ? [] : values.slice(-count)),
    cost: () => cost,
    lastMatch,
  }
  return judge(automation, triggerFrom(event), context)
}

/** `yes`, or why not. */
const outcome = (...asked: Parameters<typeof verdictOn>): string => {
  const verdict = verdictOn(...asked)
  return verdict.matched ? 'yes' : verdict.unmet.why
}

const watching = (event: object, more: object = {}) => versionOf(contentOf(event, more))
const inRegistry = { scope: { type: 'registry', registry: 'models' } }

const aliasAdded = (alias: string) => recorded(IN_PROJECT, 'AliasAdded', { ...ofProject, alias })
const onAlias = { type: 'ADD_ARTIFACT_ALIAS', alias_pattern: '^prod' }

describe('an automation', () => {
  it('fires on what it watches for', () => {
    assert.deepEqual(verdictOn(watching(onAlias), aliasAdded('production')), { matched: true, figure: null })
    assert.equal(outcome(watching(onAlias), aliasAdded('preprod')), 'alias_pattern')
  })

  it('says the first reason why it does not', () => {
    const event = aliasAdded('prod')
    assert.equal(outcome(undefined, event), 'not_there')
    const content = contentOf(onAlias)
    assert.equal(outcome(versionOf(content, { deleted: true, enabled: false }), event), 'deleted')
    assert.equal(outcome(versionOf(content, { enabled: false }), event), 'disabled')
    assert.equal(outcome(versionOf(content, { team: 'other' }), event), 'scope')
    assert.equal(outcome(watching({ type: 'CREATE_ARTIFACT' }), event), 'event_type')
    for (const scope of [
      { type: 'project', entity: 'team', project: 'other' },
      { type: 'project', entity: 'other', project: 'p' },
      { type: 'registry', registry: 'p' },
      { type: 'team' },
    ])
      assert.equal(outcome(watching(onAlias, { scope }), event), 'scope')
  })

  it('watches a registry, whatever its collections are, and no project of that name', () => {
    const added = (stream: string, data: object) => recorded(stream, 'AliasAdded', { ...data, alias: 'prod' })
    assert.equal(outcome(watching(onAlias, inRegistry), added(IN_REGISTRY, ofRegistry)), 'yes')
    const later = { ...ofRegistry, collection: 'later' }
    assert.equal(outcome(watching(onAlias, inRegistry), added('registered-team/models/later', later)), 'yes')
    const project = { ...ofProject, project_id: 'team/models' }
    assert.equal(
      outcome(watching(onAlias, inRegistry), added('artifact-team/models/model', project)),
      'scope',
    )
    for (const [type, event] of [
      ['LINK_ARTIFACT', recorded(IN_REGISTRY, 'VersionLinked', { ...ofRegistry, source, metadata: {} })],
      ['UNLINK_ARTIFACT', recorded(IN_REGISTRY, 'VersionUnlinked', { ...ofRegistry, source })],
    ] as const)
      assert.equal(outcome(watching({ type }, inRegistry), event), 'yes')
  })

  it('takes any tag without a pattern', () => {
    const tagged = recorded(IN_PROJECT, 'TagAdded', { ...ofProject, tag: 'europe-west' })
    assert.equal(outcome(watching({ type: 'ADD_ARTIFACT_TAG' }), tagged), 'yes')
    assert.equal(outcome(watching({ type: 'ADD_ARTIFACT_TAG', tag_pattern: '^europe.*' }), tagged), 'yes')
    assert.equal(outcome(watching({ type: 'ADD_ARTIFACT_TAG', tag_pattern: '^asia' }), tagged), 'tag_pattern')
    assert.equal(outcome(watching({ type: 'REMOVE_ARTIFACT_TAG' }), tagged), 'event_type')
  })

  it('looks at runs of a user, or of names that a pattern matches', () => {
    const failed = runEvent('RunFailed', { state: 'crashed', ended_at: '2026-01-01T00:00:00.000000Z' })
    const onState = (states: string[], run_filters?: object) =>
      outcome(watching({ type: 'RUN_STATE', states }, run_filters && { run_filters }), failed)
    assert.equal(onState(['FAILED']), 'yes')
    assert.equal(onState(['RUNNING', 'FINISHED']), 'state')
    assert.equal(onState(['FAILED'], { user: 'ada', name_pattern: '^exp-\\d$' }), 'yes')
    assert.equal(onState(['FAILED'], { user: 'bob' }), 'run_user')
    assert.equal(onState(['FAILED'], { name_pattern: '^prod' }), 'run_name_pattern')
  })

  it('compares the newest value of a metric, or an aggregate of the last ones', () => {
    const onLoss = (more: object, values: number[]) =>
      verdictOn(
        watching({ type: 'RUN_METRIC', metric: 'loss', comparison: '$gt', threshold: 2, ...more }),
        metricsEvent({ loss: values.at(-1)! }),
        { values: values.slice(0, -1) },
      )
    const figure = (metric_value: number) => ({
      matched: true,
      figure: { metric_name: 'loss', metric_value, threshold: 2 },
    })
    assert.deepEqual(onLoss({}, [9, 3]), figure(3))
    assert.deepEqual(onLoss({}, [9, 2]), {
      matched: false,
      unmet: { why: 'threshold', value: 2, threshold: 2 },
    })
    assert.deepEqual(onLoss({ comparison: '$gte' }, [2]), figure(2))
    assert.deepEqual(onLoss({ comparison: '$lt' }, [1]), figure(1))
    assert.deepEqual(onLoss({ comparison: '$lte' }, [2]), figure(2))
    assert.deepEqual(onLoss({ aggregation: 'MAX', window: 2 }, [9, 3, 1]), figure(3))
    assert.deepEqual(onLoss({ aggregation: 'MIN', window: 2, comparison: '$lt' }, [0, 3, 1]), figure(1))
    assert.deepEqual(onLoss({ aggregation: 'AVERAGE', window: 3 }, [9, 3, 3]), figure(5))
    assert.deepEqual(onLoss({ aggregation: 'AVERAGE', window: 3 }, [9, 3]), {
      matched: false,
      unmet: { why: 'window_not_full', has: 2, needs: 3 },
    })
    assert.deepEqual(onLoss({ aggregation: 'AVERAGE', window: 2 }, [1e308, 1e308]), figure(1e308))
    assert.equal(
      outcome(
        watching({ type: 'RUN_METRIC', metric: 'loss', comparison: '$gt', threshold: 2 }),
        metricsEvent({ a: 1 }),
      ),
      'metric_absent',
    )
  })

  it('compares a window with the one before it', () => {
    const change = (more: object, values: number[]) =>
      outcome(
        watching({
          type: 'RUN_METRIC_CHANGE',
          metric: 'loss',
          change_type: 'ABSOLUTE',
          change_amount: 2,
          change_direction: 'ANY',
          window: 1,
          prior_window: 1,
          ...more,
        }),
        metricsEvent({ loss: values.at(-1)! }),
        { values: values.slice(0, -1) },
      )
    assert.equal(change({}, [1, 3]), 'yes')
    assert.equal(change({}, [3, 1]), 'yes')
    assert.equal(change({}, [1, 2]), 'threshold')
    assert.equal(change({}, [1]), 'window_not_full')
    assert.equal(change({ change_direction: 'INCREASE' }, [3, 1]), 'threshold')
    assert.equal(change({ change_direction: 'DECREASE' }, [3, 1]), 'yes')
    const relative = { change_type: 'RELATIVE', change_amount: 0.5 }
    assert.equal(change(relative, [-2, -1]), 'yes')
    assert.equal(change(relative, [0, 1]), 'prior_is_zero')
    const windows = { aggregation: 'AVERAGE', window: 2, prior_window: 3 }
    assert.equal(change(windows, [9, 1, 1, 1, 3, 3]), 'yes')
    assert.equal(change(windows, [1, 1, 3, 3]), 'window_not_full')
  })

  it('compares a value with the deviation of those before it', () => {
    const zscore = (more: object, values: number[]) =>
      outcome(
        watching({ type: 'RUN_METRIC_ZSCORE', metric: 'loss', window: 4, threshold: 2, ...more }),
        metricsEvent({ loss: values.at(-1)! }),
        { values: values.slice(0, -1) },
      )
    // The four before have the mean 2 and the deviation 1.
    assert.equal(zscore({}, [1, 3, 1, 3, 4]), 'yes')
    assert.equal(zscore({}, [1, 3, 1, 3, 3.9]), 'threshold')
    assert.equal(zscore({ change_direction: 'DECREASE' }, [1, 3, 1, 3, 4]), 'threshold')
    assert.equal(zscore({ change_direction: 'DECREASE' }, [1, 3, 1, 3, 0]), 'yes')
    assert.equal(zscore({}, [2, 2, 2, 2, 9]), 'no_deviation')
    assert.equal(zscore({}, [3, 1, 3, 9]), 'window_not_full')
  })

  it('is silent for a day after it matched for a run, by the time of the log', () => {
    const automation = watching({ type: 'RUN_METRIC', metric: 'a', comparison: '$gt', threshold: 0 })
    const at = (hours: number, lastMatch: JudgeContext['lastMatch'], of = automation) =>
      verdictOn(of, metricsEvent({ a: 1 }, {}, { at: hours * HOUR, position: 9n }), {
        values: [1],
        lastMatch,
      })
    const lastMatch = { position: 5n, at: new Date(0) }
    assert.deepEqual(at(23.9, lastMatch), {
      matched: false,
      unmet: { why: 'cooldown', until: new Date(24 * HOUR) },
    })
    assert.ok(at(24, lastMatch).matched)
    assert.ok(at(0, undefined).matched)
    assert.ok(at(1, lastMatch, { ...automation, conditionsSince: 6n }).matched)
    assert.ok(!at(1, lastMatch, { ...automation, since: 6n }).matched)
  })

  it('watches calls that failed, or used or took too much', () => {
    const ended = (data: object) =>
      recorded('call-team/p/c', 'CallEnded', {
        project_id: 'team/p',
        id: 'c',
        ended_at: '2026-01-01T00:00:02.000000Z',
        usage: { models: [{ model: 'm', total_tokens: 100 }] },
        ...data,
      })
    const start = { trace_id: 'c', started_at: '2026-01-01T00:00:00.000000Z' }
    assert.equal(outcome(watching({ type: 'CALL_FAILED' }), ended({ exception: 'oh' })), 'yes')
    assert.equal(outcome(watching({ type: 'CALL_FAILED' }), ended({})), 'not_failed')
    const usage = (measure: string, threshold: number, data: object = {}) =>
      verdictOn(
        watching({ type: 'CALL_USAGE_THRESHOLD', measure, comparison: '$gte', threshold }),
        ended(data),
      )
    assert.deepEqual(usage('total_tokens', 100), {
      matched: true,
      figure: { metric_name: 'total_tokens', metric_value: 100, threshold: 100 },
    })
    assert.deepEqual(usage('total_tokens', 101), {
      matched: false,
      unmet: { why: 'threshold', value: 100, threshold: 101 },
    })
    assert.ok(usage('latency_ms', 2000, { start }).matched)
    assert.deepEqual(usage('latency_ms', 2000), { matched: false, unmet: { why: 'measure_unknown' } })
    assert.deepEqual(usage('cost', 0), { matched: false, unmet: { why: 'measure_unknown' } })
  })

  it('compares what a call cost exactly, and tells it as a number', () => {
    const started = { trace_id: 'c', started_at: '2026-01-01T00:00:00.000000Z' }
    const data = { project_id: 'team/p', id: 'c', ended_at: '2026-01-01T00:00:02.000000Z' }
    const ended = recorded('call-team/p/c', 'CallEnded', { ...data, usage: { models: [] }, start: started })
    const over = (comparison: string, threshold: number, cost: Amount | undefined, event = ended) =>
      verdictOn(
        watching({ type: 'CALL_USAGE_THRESHOLD', measure: 'cost', comparison, threshold }),
        event,
        cost === undefined ? {} : { cost },
      )
    const figure = { metric_name: 'cost', metric_value: 0.3, threshold: 0.3 }
    assert.deepEqual(over('$gte', 0.3, amountFrom('0.3')), { matched: true, figure })
    assert.deepEqual(over('$gt', 0.3, amountFrom('0.3')), {
      matched: false,
      unmet: { why: 'threshold', value: 0.3, threshold: 0.3 },
    })
    const hardlyMore = amountFrom('9007199254740993.000000000001')
    assert.ok(over('$gt', 9007199254740992, hardlyMore).matched)
    assert.ok(!over('$lte', 1e-13, amountFrom('0.000000000001')).matched)
    assert.ok(over('$lt', 1e-13, 0n).matched)
    assert.deepEqual(over('$gte', 0, undefined), { matched: false, unmet: { why: 'price_unknown' } })
    const unstarted = recorded('call-team/p/c', 'CallEnded', { ...data, usage: { models: [] } })
    assert.deepEqual(over('$gte', 0, 1n, unstarted), { matched: false, unmet: { why: 'measure_unknown' } })
    const late = { started_at: started.started_at, end: { ended_at: data.ended_at, usage: { models: [] } } }
    const startedLate = recorded('call-team/p/c', 'CallStarted', { ...data, ...late })
    assert.ok(over('$gte', 0, 1n, startedLate).matched)
  })

  it('of a project watches how its evaluation runs finish', () => {
    const on = (event: object, data: JsonObject = {}) =>
      outcome(watching({ type: 'EVALUATION_FINISHED', ...event }), runFinished(data))
    assert.equal(on({}), 'yes')
    assert.equal(on({ outcomes: ['failed', 'completed'] }), 'yes')
    assert.equal(on({ outcomes: ['failed', 'canceled'] }), 'outcome')
    assert.equal(on({ evaluation_pattern: '^capitals$' }), 'yes')
    assert.equal(on({ evaluation_pattern: '^other' }), 'evaluation_pattern')
    assert.equal(on({ evaluation_pattern: '.' }, { evaluation: null }), 'evaluation_pattern')
    const elsewhere = { scope: { type: 'project', entity: 'team', project: 'q' } }
    assert.equal(outcome(watching({ type: 'EVALUATION_FINISHED' }, elsewhere), runFinished()), 'scope')
    assert.equal(outcome(watching({ type: 'EVALUATION_FINISHED' }), scoreGiven(1)), 'event_type')
  })

  it('of a project compares scores with a threshold', () => {
    const below = (score_path: string | null, threshold = 0.5, scorer = 'exact') =>
      watching({ type: 'SCORE_THRESHOLD', scorer, score_path, comparison: '$lt', threshold })
    assert.deepEqual(verdictOn(below(null), scoreGiven(0.25)), {
      matched: true,
      figure: { metric_name: 'exact', metric_value: 0.25, threshold: 0.5 },
    })
    assert.deepEqual(verdictOn(below('details.passed'), scoreGiven({ details: { passed: false } })), {
      matched: true,
      figure: { metric_name: 'exact.details.passed', metric_value: 0, threshold: 0.5 },
    })
    assert.deepEqual(verdictOn(below(null), scoreGiven(true)), {
      matched: false,
      unmet: { why: 'threshold', value: 1, threshold: 0.5 },
    })
    for (const score of ['0.1', null, [0.1], { passed: 'no' }])
      assert.equal(outcome(below(null), scoreGiven(score)), 'score_absent')
    assert.equal(outcome(below('passed'), scoreGiven(0.1)), 'score_absent')
    assert.equal(outcome(below('constructor'), scoreGiven({})), 'score_absent')
    assert.equal(outcome(below('a.b'), scoreGiven({ 'a.b': 0 })), 'yes')
    assert.equal(outcome(below('a\\.b'), scoreGiven({ 'a.b': 0, a: { b: 1 } })), 'yes')
    assert.equal(outcome(below('a.b'), scoreGiven({ 'a.b': 0, a: { b: 1 } })), 'threshold')
    assert.equal(outcome(below('list.1.x.y'), scoreGiven({ list: [1, { 'x.y': 0 }] })), 'yes')
    for (const malformed of ['', '.', 'a..b', 'a.', 'a\\'])
      assert.equal(outcome(below(malformed), scoreGiven({ a: 0, '': 0 })), 'score_absent')
    assert.equal(outcome(below(null, 1, 'other'), scoreGiven(0)), 'scorer')
    assert.equal(outcome(below('true_fraction', 0.6), runFinished()), 'yes')
    assert.equal(outcome(below('true_fraction', 0.5), runFinished()), 'threshold')
    assert.equal(outcome(below(null), runFinished()), 'score_absent')
    assert.equal(outcome(below('mean', 8, 'length'), runFinished()), 'yes')
    assert.equal(outcome(below('mean', 8, 'constructor'), runFinished()), 'scorer')
  })

  it('of a team watches its webhooks and deliveries', () => {
    const disabled = recorded('webhook-w', 'WebhookDisabled', {
      id: 'w',
      team: 'team',
      reason: 'gone',
      depth: 0,
    })
    const scope = { type: 'team' }
    assert.equal(outcome(watching({ type: 'WEBHOOK_DISABLED' }, { scope }), disabled), 'yes')
    assert.equal(outcome(watching({ type: 'DELIVERY_DEAD' }, { scope }), disabled), 'event_type')
    assert.equal(
      outcome(versionOf(contentOf({ type: 'WEBHOOK_DISABLED' }, { scope }), { team: 'x' }), disabled),
      'scope',
    )
  })

  it('of a team watches its budgets, and tells how much is spent', () => {
    const reached = recorded('limits-team', 'BudgetReached', {
      team: 'team',
      scope: { type: 'team' },
      budget: { amount: '4', period: 'day' },
      period: '2026-11-21',
      level: 50,
      spent: '2.5',
    })
    const watches = watching({ type: 'BUDGET_REACHED' }, { scope: { type: 'team' } })
    const context = {
      pattern: () => () => false,
      values: () => [],
      cost: () => undefined,
      lastMatch: undefined,
    }
    assert.deepEqual(judge(watches, triggerOf(reached)!, context), {
      matched: true,
      figure: { metric_name: 'team_budget_percent', metric_value: 62.5, threshold: 50 },
    })
  })

  it('says beforehand which values it will look at', () => {
    const needed = (event: object, metrics = { a: 1 }) =>
      valuesNeeded(watching(event), triggerFrom(metricsEvent(metrics)))
    const metric = { metric: 'a', threshold: 1, window: 7 }
    assert.deepEqual(needed({ type: 'RUN_METRIC', ...metric }), { metric: 'a', count: 6 })
    assert.deepEqual(needed({ type: 'RUN_METRIC_CHANGE', ...metric, prior_window: 5 }), {
      metric: 'a',
      count: 11,
    })
    assert.deepEqual(needed({ type: 'RUN_METRIC_ZSCORE', ...metric }), { metric: 'a', count: 7 })
    assert.equal(needed({ type: 'RUN_METRIC', metric: 'b' }), undefined)
    assert.equal(needed({ type: 'RUN_STATE', states: ['FAILED'] }), undefined)
    assert.equal(needed({ type: 'RUN_METRIC', metric: 'constructor' }), undefined)
  })

  it('whose pattern does not compile, or whose text is too long, fires on nothing', () => {
    assert.equal(outcome(watching({ ...onAlias, alias_pattern: '(' }), aliasAdded('prod')), 'alias_pattern')
    assert.ok(!pattern('a')('a'.repeat(4097)))
    assert.ok(pattern('a')('a'.repeat(4096)))
  })
})

describe('the query of an automation', () => {
  const eq = (field: string, value: unknown) => ({
    $expr: { $eq: [{ $getField: field }, { $literal: value }] },
  })
  const alias = (name: string) => recorded(IN_PROJECT, 'AliasAdded', { ...ofProject, alias: name })
  const watchingAliases = (query: object) =>
    watching({ type: 'ADD_ARTIFACT_ALIAS', alias_pattern: '.' }, { query })

  it('compares variables of the event', () => {
    assert.equal(outcome(watchingAliases(eq('artifact_collection_name', 'model')), alias('a')), 'yes')
    assert.equal(outcome(watchingAliases(eq('event_author', 'bob')), alias('a')), 'query')
    assert.equal(outcome(watchingAliases(eq('artifact_version_string', 'team/p/model:a')), alias('a')), 'yes')
  })

  it('compares metadata of the artifact, at any depth', () => {
    const automation = watchingAliases({
      $expr: { $gt: [{ $getField: 'artifact_metadata.eval.accuracy' }, { $literal: 0.9 }] },
    })
    const shown = (accuracy: number) => ({ version: 3, artifact_id: 'a', metadata: { eval: { accuracy } } })
    assert.equal(outcome(automation, alias('a'), { shown: shown(0.95) }), 'yes')
    assert.equal(outcome(automation, alias('a'), { shown: shown(0.8) }), 'query')
    assert.equal(outcome(automation, alias('a')), 'query')
  })

  it('sees the figure of a metric, and an event that does not meet it starts no cooldown', () => {
    const automation = watching(
      { type: 'RUN_METRIC', metric: 'loss', comparison: '$lt', threshold: 1 },
      { query: eq('run_name', 'exp-8') },
    )
    const event = metricsEvent({ loss: 0.5 })
    assert.equal(outcome(automation, event, { values: [0.5] }), 'query')
    const lastMatch = { position: 0n, at: new Date(0) }
    assert.equal(outcome(automation, event, { values: [0.5], lastMatch }), 'query')
    const low = watching(
      { type: 'RUN_METRIC', metric: 'loss', comparison: '$lt', threshold: 1 },
      { query: { $expr: { $lte: [{ $getField: 'metric_value' }, { $literal: 0.5 }] } } },
    )
    assert.equal(outcome(low, event, { values: [0.5] }), 'yes')
  })
})
