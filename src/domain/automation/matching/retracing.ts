import type { EventStore, Position, RecordedEvent } from '../../ports/event-store.js'
import type { Pattern } from '../../ports/patterns.js'
import { pricesAlong } from '../../price/prices-along.js'
import { costOf, ownersFor } from '../../price/standing.js'
import { MOST_WINDOW } from '../events.js'
import type { AutomationVersion } from '../state.js'
import { judge, valuesNeeded, type Match } from './judge.js'
import type { CostOf } from './measures.js'
import type { CallTrigger, Trigger } from './trigger.js'
import { triggerOf } from './trigger-of.js'
import type { Verdict } from './verdict.js'
import { spansOf } from './windows.js'

/** What an event that can make automations fire did to one of them. */
export interface Retraced {
  readonly trigger: Trigger
  /** The version that was in force; undefined where there was none yet. */
  readonly version: AutomationVersion | undefined
  readonly verdict: Verdict
  /** Events that had to be read for it. */
  readonly read: number
}

interface Retracing {
  readonly eventStore: Pick<EventStore, 'readStream'>
  readonly pattern: (source: string) => Pattern
  /** The version that is in force for an event at a position. */
  readonly versionFor: (position: Position) => Promise<AutomationVersion | undefined>
}

/** What is known of a run up to a revision of its stream. */
interface Run {
  revision: bigint
  /** Of the metrics that were asked for last. */
  readonly values: Map<string, number[]>
  lastMatch: Match | undefined
}

const MOST_RUNS = 100
/** Of a run: versions may look at one metric after the other. */
const MOST_METRICS = 4
/** A change looks at two windows. */
const MOST_VALUES = 2 * MOST_WINDOW

/** Without values, prices and earlier matches. */
const ALONE = { values: () => [], cost: () => undefined, lastMatch: undefined }

/** What no value and no earlier match can change. */
const SURE: ReadonlySet<string> = new Set(['not_there', 'deleted', 'disabled', 'event_type', 'scope'])

/**
 * Judges events of the past against one automation, given in log order: windows and cooldowns are those that all earlier
 * events of the same run give, read where they were not given. Memory is bounded: a run that was forgotten is read again.
 */
export const retracing = ({ eventStore, pattern, versionFor }: Retracing) => {
  const runs = new Map<string, Run>()
  const prices = pricesAlong(eventStore)

  const runOf = (stream: string): Run => {
    const run = runs.get(stream) ?? { revision: -1n, values: new Map(), lastMatch: undefined }
    runs.delete(stream)
    runs.set(stream, run)
    const [oldest] = runs.keys()
    if (runs.size > MOST_RUNS && oldest !== undefined) runs.delete(oldest)
    return run
  }

  /** Reads what a metric was up to an event, where it was not followed from the beginning; answers how much it read. */
  const followed = async (run: Run, metric: string, event: RecordedEvent): Promise<number> => {
    if (run.values.has(metric)) return 0
    const [oldest] = run.values.keys()
    if (run.values.size >= MOST_METRICS && oldest !== undefined) run.values.delete(oldest)
    const newestFirst: number[] = []
    let read = 0
    const earlier = { from: event.revision, backwards: true }
    for await (const one of eventStore.readStream(event.stream, earlier)) {
      read += 1
      const value = metricValue(one, metric)
      if (value !== undefined) newestFirst.push(value)
      if (newestFirst.length === MOST_VALUES) break
    }
    run.values.set(metric, newestFirst.reverse())
    return read
  }

  const costsThen = async ({ project_id, position }: CallTrigger): Promise<CostOf> => {
    const standing = await prices.at(ownersFor(project_id), position)
    return (charged) => costOf(standing, charged)
  }

  const judgeNext = async (run: Run, event: RecordedEvent, trigger: Trigger | undefined) => {
    run.revision = event.revision
    for (const [metric, values] of run.values) keepValue(run.values, metric, values, event)
    if (trigger === undefined) return { verdict: undefined, read: 0 }
    const version = await versionFor(event.position)
    const needed = version && valuesNeeded(version, trigger)
    const read = needed === undefined ? 0 : await followed(run, needed.metric, event)
    const verdict = judge(version, trigger, {
      pattern,
      values: (metric, count) => (run.values.get(metric) ?? []).slice(-count),
      cost: ALONE.cost,
      lastMatch: run.lastMatch,
    })
    if (verdict.matched) run.lastMatch = { position: trigger.position, at: trigger.at }
    return { verdict, read }
  }

  return async (event: RecordedEvent): Promise<Retraced | undefined> => {
    const trigger = triggerOf(event)
    if (trigger === undefined) return undefined
    const version = await versionFor(event.position)
    const alone = judge(version, trigger, { ...ALONE, pattern })
    if (trigger.kind === 'call' && !alone.matched && alone.unmet.why === 'price_unknown') {
      const before = prices.read()
      const cost = await costsThen(trigger)
      const verdict = judge(version, trigger, { ...ALONE, pattern, cost })
      return { trigger, version, verdict, read: prices.read() - before }
    }
    const isSure = trigger.kind !== 'run' || (!alone.matched && SURE.has(alone.unmet.why))
    if (isSure) return { trigger, version, verdict: alone, read: 0 }
    const run = runOf(event.stream)
    if (run.revision >= event.revision) throw new Error('events must be in log order')
    const metric = version && spansOf(version.content.event)?.metric
    if (run.revision === -1n && metric !== undefined) run.values.set(metric, [])
    let read = 0
    if (run.revision < event.revision - 1n)
      for await (const earlier of eventStore.readStream(event.stream, { from: run.revision + 1n })) {
        if (earlier.revision >= event.revision) break
        read += 1 + (await judgeNext(run, earlier, triggerOf(earlier))).read
      }
    const last = await judgeNext(run, event, trigger)
    return { trigger, version, verdict: last.verdict!, read: read + last.read }
  }
}

const keepValue = (all: Run['values'], metric: string, values: number[], event: RecordedEvent): void => {
  const value = metricValue(event, metric)
  if (value === undefined) return
  values.push(value)
  if (values.length >= 2 * MOST_VALUES) all.set(metric, values.slice(-MOST_VALUES))
}

/** The value that an event logged for a metric; undefined for none, and for what is no finite number. */
export const metricValue = ({ type, data }: RecordedEvent, metric: string): number | undefined => {
  const { metrics } = data
  if (type !== 'MetricsLogged' || typeof metrics !== 'object' || metrics === null) return undefined
  const value: unknown = Object.hasOwn(metrics, metric)
    ? (metrics as Record<string, unknown>)[metric]
    : undefined
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
