import assert from 'node:assert/strict'
import fc from 'fast-check'
import { compileRe2 } from '../../../../../../src/adapters/patterns/re2.js'
import {
  cooldownOf,
  judge,
  valuesNeeded,
  type Match,
} from '../../../../../../src/domain/webhooks/automations/matching/judge.js'
import { cachedPatterns } from '../../../../../../src/kernel/patterns.js'
import { triggerOf } from '../../../../../../src/domain/webhooks/automations/matching/trigger-of.js'
import type {
  AutomationContent,
  AutomationCondition,
} from '../../../../../../src/domain/webhooks/automations/events.js'
import { versionAfter } from '../../../../../../src/domain/webhooks/automations/state.js'
import type { RecordedEvent } from '../../../../../../src/kernel/ports/event-store.js'
import { COUNTS } from '../../../../../counts.js'
import { contentOf, metricsEvent, recorded, versionOf } from './given.js'

const HOUR = 3600 * 1000
const pattern = cachedPatterns(compileRe2)

/** Few values, so that aggregates are exact and lines are met exactly. */
const value = fc.integer({ min: -4, max: 4 })
const window = fc.integer({ min: 1, max: 3 })
const direction = fc.constantFrom('INCREASE', 'DECREASE', 'ANY')
const aggregation = fc.constantFrom(null, 'MAX', 'MIN', 'AVERAGE')

const event = fc.oneof(
  fc.record({
    type: fc.constant('RUN_METRIC'),
    metric: fc.constant('loss'),
    aggregation,
    window,
    comparison: fc.constantFrom('$gt', '$gte', '$lt', '$lte'),
    threshold: value,
  }),
  fc.record({
    type: fc.constant('RUN_METRIC_CHANGE'),
    metric: fc.constant('loss'),
    aggregation,
    window,
    prior_window: window,
    change_type: fc.constantFrom('ABSOLUTE', 'RELATIVE'),
    change_direction: direction,
    change_amount: fc.constantFrom(0.5, 1, 3),
  }),
  fc.record({
    type: fc.constant('RUN_METRIC_ZSCORE'),
    metric: fc.constant('loss'),
    window: fc.integer({ min: 2, max: 4 }),
    threshold: fc.constantFrom(0.5, 1, 2),
    change_direction: direction,
  }),
)
const content = fc
  .tuple(event, fc.constantFrom(null, { user: 'ada' }, { name_pattern: '^exp' }), fc.constantFrom('p', 'q'))
  .map(([event, run_filters, project]) =>
    contentOf(event, { run_filters, scope: { type: 'project', entity: 'team', project } }),
  )

const metrics = fc.record({
  kind: fc.constant('metrics' as const),
  hours: fc.constantFrom(0, 1, 11.5, 12, 24),
  run: fc.constantFrom('r', 's'),
  project: fc.constantFrom('p', 'p', 'q'),
  metrics: fc.oneof(
    { weight: 5, arbitrary: fc.record({ loss: value }) },
    { weight: 1, arbitrary: fc.record({ other: value }) },
  ),
})
const change = fc.oneof(
  content.map((content) => ({ kind: 'content' as const, content })),
  fc.constantFrom({ kind: 'enabled' as const }, { kind: 'disabled' as const }, { kind: 'deleted' as const }),
)

/** A log of metrics with an automation that comes into being in it, changes, and stops. */
const log = fc
  .tuple(
    fc.array(metrics, { maxLength: 4 }),
    content,
    fc.array(fc.oneof({ weight: 8, arbitrary: metrics }, { weight: 1, arbitrary: change }), {
      maxLength: 40,
    }),
  )
  .map(([before, content, after]) => {
    let now = 0
    let revision = 0n
    let current: AutomationContent = content
    return [...before, { kind: 'created' as const, content }, ...after].map((deed, place): RecordedEvent => {
      const position = BigInt(place + 1) * 10n
      if (deed.kind === 'metrics') {
        now += deed.hours * HOUR
        const { run, project, metrics } = deed
        const data = { run_id: run, project_id: `team/${project}`, name: `exp-${run}` }
        return metricsEvent(metrics, data, { position, at: now })
      }
      const more = { position, at: now, revision: revision++ }
      const automation = (type: string, data: object) =>
        recorded('automation-a', type, { id: 'a', team: 'team', ...data }, more)
      if (deed.kind === 'created') return automation('AutomationCreated', { ...deed.content, enabled: true })
      if (deed.kind === 'content') {
        const resets =
          JSON.stringify({ ...current, name: '' }) !== JSON.stringify({ ...deed.content, name: '' })
        current = deed.content
        return automation('AutomationChanged', { ...deed.content, resets })
      }
      const types = { enabled: 'Enabled', disabled: 'Disabled', deleted: 'Deleted' }
      return automation(`Automation${types[deed.kind]}`, {})
    })
  })

/** As a dispatcher does it: one event after another, remembering windows and the last match. */
const fired = (events: readonly RecordedEvent[]): readonly bigint[] => {
  const values = new Map<string, number[]>()
  const matches = new Map<string, Match>()
  let automation: ReturnType<typeof versionAfter>
  const positions: bigint[] = []
  for (const event of events) {
    if (event.stream.startsWith('automation-')) {
      automation = versionAfter(automation, event)
      continue
    }
    const trigger = triggerOf(event)
    assert.ok(trigger?.kind === 'run')
    const run = JSON.stringify(cooldownOf(trigger))
    const needed = automation && valuesNeeded(automation, trigger)
    const verdict = judge(automation, trigger, {
      pattern,
      values: (metric, count) => {
        assert.deepEqual({ metric, count }, needed)
        return count === 0 ? [] : (values.get(`${event.stream} ${metric}`)?.slice(-count) ?? [])
      },
      cost: () => undefined,
      lastMatch: matches.get(run),
    })
    for (const [metric, value] of trigger.rows.flatMap((row) => Object.entries(row))) {
      const window = `${event.stream} ${metric}`
      values.set(window, [...(values.get(window) ?? []), value].slice(-6))
    }
    if (!verdict.matched) continue
    positions.push(event.position)
    matches.set(run, { position: event.position, at: event.recordedAt })
  }
  return positions
}

/** The same by the letter of the rules: every question is asked of the whole log. */
const shouldFire = (events: readonly RecordedEvent[]): readonly bigint[] => {
  const positions: bigint[] = []
  const own = events.filter(({ stream }) => stream.startsWith('automation-'))
  for (const event of events) {
    if (event.type !== 'MetricsLogged') continue
    const before = own.filter(({ position }) => position < event.position)
    const last = before.findLast(({ type }) => type === 'AutomationCreated' || type === 'AutomationChanged')
    if (last === undefined || before.some(({ type }) => type === 'AutomationDeleted')) continue
    const toggled = before.findLast(({ type }) => /(En|Dis)abled$/.test(type))
    if (toggled?.type === 'AutomationDisabled') continue
    const { event: condition, scope, run_filters } = last.data as unknown as AutomationContent
    const { project_id, metrics, name, user } = event.data as unknown as {
      project_id: string
      metrics: Record<string, number>
      name: string
      user: string
    }
    if (project_id !== `team/${scope.project}` || metrics['loss'] === undefined) continue
    if ((run_filters?.user ?? user) !== user) continue
    if (run_filters?.name_pattern != null && !new RegExp(run_filters.name_pattern).test(name)) continue
    const logged = events
      .filter(({ stream, position }) => stream === event.stream && position <= event.position)
      .flatMap(({ data }) => (data['metrics'] as { loss?: number }).loss ?? [])
    if (!isMet(condition, logged)) continue
    const reset = before.findLast(
      ({ type, data }) => type === 'AutomationCreated' || data['resets'] === true,
    )!
    const tooSoon = positions.some((position) => {
      const match = events.find((one) => one.position === position)!
      return (
        match.stream === event.stream &&
        match.position > reset.position &&
        event.recordedAt.getTime() < match.recordedAt.getTime() + 24 * HOUR
      )
    })
    if (!tooSoon) positions.push(event.position)
  }
  return positions
}

const isMet = (condition: AutomationCondition, all: readonly number[]): boolean => {
  const { type, window, prior_window, aggregation, threshold, comparison, change_amount, change_direction } =
    condition
  const agg = (values: readonly number[]): number =>
    aggregation === 'MAX'
      ? Math.max(...values)
      : aggregation === 'MIN'
        ? Math.min(...values)
        : aggregation === 'AVERAGE'
          ? values.reduce((a, b) => a + b) / values.length
          : values[values.length - 1]!
  const far = (moved: number, amount: number) =>
    (change_direction !== 'DECREASE' && moved >= amount) ||
    (change_direction !== 'INCREASE' && -moved >= amount)
  if (type === 'RUN_METRIC') {
    if (all.length < window!) return false
    const value = agg(all.slice(all.length - window!))
    return comparison!.startsWith('$g')
      ? value > threshold! || (comparison === '$gte' && value === threshold)
      : value < threshold! || (comparison === '$lte' && value === threshold)
  }
  if (type === 'RUN_METRIC_CHANGE') {
    const split = all.length - window!
    if (split < prior_window!) return false
    const [prior, now] = [agg(all.slice(split - prior_window!, split)), agg(all.slice(split))]
    if (condition.change_type === 'ABSOLUTE') return far(now - prior, change_amount!)
    return prior !== 0 && far((now - prior) / Math.abs(prior), change_amount!)
  }
  const split = all.length - 1
  if (split < window!) return false
  const before = all.slice(split - window!, split)
  const mean = before.reduce((a, b) => a + b) / before.length
  const deviation = Math.sqrt(before.reduce((a, b) => a + (b - mean) ** 2, 0) / before.length)
  return deviation > 0 && far((all[split]! - mean) / deviation, threshold!)
}

const ROUNDS = { numRuns: COUNTS.matchingHistories }

describe('over any history, an automation', () => {
  it('fires exactly where the rules say, one event at most once', () =>
    fc.assert(
      fc.property(log, (events) => {
        assert.deepEqual(fired(events), shouldFire(events))
      }),
      ROUNDS,
    ))

  it('fires the same when its matches are found anew from the beginning', () =>
    fc.assert(
      fc.property(log, fc.nat(40), (events, cut) => {
        const part = fired(events.slice(0, cut))
        assert.deepEqual(fired(events).slice(0, part.length), part)
      }),
      ROUNDS,
    ))
})

describe('rows of a history', () => {
  const rows = fc.array(fc.dictionary(fc.constantFrom('loss', 'other'), value), { maxLength: 12 })

  it('are judged in order, each with the values before it, however they were sent', () =>
    fc.assert(
      fc.property(event, fc.array(value, { maxLength: 6 }), rows, (condition, earlier, sent) => {
        const automation = versionAfterCreation(condition)
        const judged = (trigger: ReturnType<typeof triggerOf>, before: readonly number[]) =>
          judge(automation, trigger!, {
            pattern,
            values: (_, count) => (count === 0 ? [] : before.slice(-count)),
            cost: () => undefined,
            lastMatch: undefined,
          })
        const values = [...earlier]
        let first: ReturnType<typeof judge> | undefined
        for (const row of sent) {
          const verdict = judged(triggerOf(metricsEvent(row)), values)
          if (verdict.matched) first ??= verdict
          if (row['loss'] !== undefined) values.push(row['loss'])
        }
        const lines = sent.map((row, at) => JSON.stringify({ ...row, _step: at, nested: { a: 'b' } }))
        const whole = judged(triggerOf(historyEvent(lines)), earlier)
        assert.equal(whole.matched, first !== undefined)
        if (first !== undefined) assert.deepEqual(whole, first)
      }),
    ))
})

const versionAfterCreation = (condition: object) => versionOf(contentOf(condition))

const historyEvent = (lines: readonly string[]) =>
  recorded('run-team/p/run', 'HistoryLogged', {
    project_id: 'team/p',
    run_id: 'run',
    name: 'exp-1',
    user: 'ada',
    offset: 0,
    rows: lines.length,
    lines,
  })
