import type { EventStore, Position, RecordedEvent } from '../../ports/event-store.js'
import type { Pattern } from '../../ports/patterns.js'
import { MOST_WINDOW } from '../events.js'
import type { AutomationVersion } from '../state.js'
import { judge, type Match } from './judge.js'
import type { Trigger } from './trigger.js'
import { triggerOf } from './trigger-of.js'
import type { Verdict } from './verdict.js'

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
  readonly versionFor: (position: Position) => AutomationVersion | undefined
  /** Metrics that any of the versions looks at. */
  readonly metrics: ReadonlySet<string>
}

/** What is known of a run up to a revision of its stream. */
interface Run {
  revision: bigint
  readonly values: Map<string, number[]>
  lastMatch: Match | undefined
}

const MOST_RUNS = 100
/** A change looks at two windows. */
const MOST_VALUES = 2 * MOST_WINDOW

/** What no value and no earlier match can change. */
const SURE: ReadonlySet<string> = new Set(['not_there', 'deleted', 'disabled', 'event_type', 'scope'])

/**
 * Judges events of the past against one automation, given in log order: windows and cooldowns are those that all earlier
 * events of the same run give, read where they were not given. Memory is bounded: a run that was forgotten is read again.
 */
export const retracing = ({ eventStore, pattern, versionFor, metrics }: Retracing) => {
  const runs = new Map<string, Run>()

  const runOf = (stream: string): Run => {
    const run = runs.get(stream) ?? {
      revision: -1n,
      values: new Map<string, number[]>(),
      lastMatch: undefined,
    }
    runs.delete(stream)
    runs.set(stream, run)
    const [oldest] = runs.keys()
    if (runs.size > MOST_RUNS && oldest !== undefined) runs.delete(oldest)
    return run
  }

  const judgeNext = (run: Run, event: RecordedEvent, trigger: Trigger | undefined): Verdict | undefined => {
    run.revision = event.revision
    for (const metric of metrics) keepValue(run.values, metric, metricValue(event, metric))
    if (trigger === undefined) return undefined
    const verdict = judge(versionFor(event.position), trigger, {
      pattern,
      values: (metric, count) => (run.values.get(metric) ?? []).slice(-count),
      lastMatch: run.lastMatch,
    })
    if (verdict.matched) run.lastMatch = { position: trigger.position, at: trigger.at }
    return verdict
  }

  return async (event: RecordedEvent): Promise<Retraced | undefined> => {
    const trigger = triggerOf(event)
    if (trigger === undefined) return undefined
    const version = versionFor(event.position)
    const alone = judge(version, trigger, { pattern, values: () => [], lastMatch: undefined })
    const isSure = trigger.kind !== 'run' || (!alone.matched && SURE.has(alone.unmet.why))
    if (isSure) return { trigger, version, verdict: alone, read: 0 }
    const run = runOf(event.stream)
    if (run.revision >= event.revision) throw new Error('events are to be given in log order')
    let read = 0
    if (run.revision < event.revision - 1n)
      for await (const earlier of eventStore.readStream(event.stream, { from: run.revision + 1n })) {
        if (earlier.revision >= event.revision) break
        judgeNext(run, earlier, triggerOf(earlier))
        read += 1
      }
    return { trigger, version, verdict: judgeNext(run, event, trigger)!, read }
  }
}

const keepValue = (values: Map<string, number[]>, metric: string, value: number | undefined): void => {
  if (value === undefined) return
  const kept = values.get(metric) ?? []
  kept.push(value)
  values.set(metric, kept.length < 2 * MOST_VALUES ? kept : kept.slice(-MOST_VALUES))
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
