import type { EventStore, Position, RecordedEvent } from '../../../../kernel/ports/event-store.js'
import type { Pattern } from '../../../../kernel/ports/patterns.js'
import { priceHistory } from '../../../prices/price-history.js'
import { costOf, ownersFor } from '../../../calls/call-cost.js'
import { MOST_WINDOW } from '../events.js'
import type { AutomationVersion } from '../state.js'
import { findVersionInfo } from './version-info.js'
import { judge, needsVersion, valuesNeeded, type Match } from './judge.js'
import type { CostOf } from './measures.js'
import type { CallTrigger, Trigger } from './trigger.js'
import { metricValues } from './runs.js'
import { triggerOf } from './trigger-of.js'
import type { Verdict } from './verdict.js'
import { spansOf } from './windows.js'

/** The decision of one automation about one past event. */
export interface PastDecision {
  readonly trigger: Trigger
  /** The version in force; undefined if the automation did not exist yet. */
  readonly version: AutomationVersion | undefined
  readonly verdict: Verdict
  /** Number of events read for it. */
  readonly read: number
}

interface PastDecisionOptions {
  readonly eventStore: Pick<EventStore, 'readStream'>
  readonly pattern: (source: string) => Pattern
  /** The automation's version in force at a position. */
  readonly versionFor: (position: Position) => Promise<AutomationVersion | undefined>
}

/** State of a run up to a revision of its stream. */
interface Run {
  revision: bigint
  /** Of the most recently used metrics. */
  readonly values: Map<string, number[]>
  lastMatch: Match | undefined
}

const MOST_RUNS = 100
/** Per run, since successive versions may use different metrics. */
const MOST_METRICS = 4
/** A change compares two windows. */
const MOST_VALUES = 2 * MOST_WINDOW

/** Without values, prices or earlier matches. */
const NO_HISTORY = { values: () => [], cost: () => undefined, lastMatch: undefined }

/** Reasons that no values and no earlier match can change. */
const UNAFFECTED_BY_HISTORY: ReadonlySet<string> = new Set([
  'not_there',
  'deleted',
  'disabled',
  'event_type',
  'scope',
])

/**
 * Replays past events, given in log order, against one automation. Windows and cooldowns are computed from all
 * earlier events of the run, which are read if they were not given. Memory is bounded: an evicted run is read again.
 */
export const pastDecisions = ({ eventStore, pattern, versionFor }: PastDecisionOptions) => {
  const runs = new Map<string, Run>()
  const prices = priceHistory(eventStore)

  const runOf = (stream: string): Run => {
    const run = runs.get(stream) ?? { revision: -1n, values: new Map(), lastMatch: undefined }
    runs.delete(stream)
    runs.set(stream, run)
    const [oldest] = runs.keys()
    if (runs.size > MOST_RUNS && oldest !== undefined) runs.delete(oldest)
    return run
  }

  /**
   * Reads the history of a metric before an event if it was not followed from the start. Returns the number of events
   * read.
   */
  const loadValues = async (run: Run, metric: string, event: RecordedEvent): Promise<number> => {
    if (run.values.has(metric)) return 0
    const [oldest] = run.values.keys()
    if (run.values.size >= MOST_METRICS && oldest !== undefined) run.values.delete(oldest)
    const newestFirst: number[] = []
    let read = 0
    if (event.revision === 0n) {
      run.values.set(metric, [])
      return 0
    }
    const earlier = { from: event.revision - 1n, backwards: true }
    for await (const one of eventStore.readStream(event.stream, earlier)) {
      read += 1
      newestFirst.push(...metricValues(one, metric).toReversed())
      if (newestFirst.length >= MOST_VALUES) break
    }
    run.values.set(metric, newestFirst.slice(0, MOST_VALUES).reverse())
    return read
  }

  const costsThen = async ({ project_id, position }: CallTrigger): Promise<CostOf> => {
    const standing = await prices.at(ownersFor(project_id), position)
    return (charged) => costOf(standing, charged)
  }

  const judgeNext = async (run: Run, event: RecordedEvent, trigger: Trigger | undefined) => {
    run.revision = event.revision
    const keep = () => {
      for (const [metric, values] of run.values) keepValues(run.values, metric, values, event)
    }
    if (trigger === undefined) {
      keep()
      return { verdict: undefined, read: 0 }
    }
    const version = await versionFor(event.position)
    const needed = version && valuesNeeded(version, trigger)
    const read = needed === undefined ? 0 : await loadValues(run, needed.metric, event)
    const verdict = judge(version, trigger, {
      pattern,
      values: (metric, count) => (count === 0 ? [] : (run.values.get(metric) ?? []).slice(-count)),
      cost: NO_HISTORY.cost,
      lastMatch: run.lastMatch,
    })
    keep()
    if (verdict.matched) run.lastMatch = { position: trigger.position, at: trigger.at }
    return { verdict, read }
  }

  return async (event: RecordedEvent): Promise<PastDecision | undefined> => {
    const trigger = triggerOf(event)
    if (trigger === undefined) return undefined
    const version = await versionFor(event.position)
    const shown =
      version !== undefined && trigger.kind === 'artifact' && needsVersion(version, trigger)
        ? (trigger.shown ?? (await findVersionInfo({ eventStore }, trigger, trigger.version)))
        : undefined
    const alone = judge(version, trigger, { ...NO_HISTORY, pattern, shown })
    if (trigger.kind === 'call' && !alone.matched && alone.unmet.why === 'price_unknown') {
      const before = prices.read()
      const cost = await costsThen(trigger)
      const verdict = judge(version, trigger, { ...NO_HISTORY, pattern, cost })
      return { trigger, version, verdict, read: prices.read() - before }
    }
    const isSure = trigger.kind !== 'run' || (!alone.matched && UNAFFECTED_BY_HISTORY.has(alone.unmet.why))
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

const keepValues = (all: Run['values'], metric: string, values: number[], event: RecordedEvent): void => {
  for (const value of metricValues(event, metric)) values.push(value)
  if (values.length >= 2 * MOST_VALUES) all.set(metric, values.slice(-MOST_VALUES))
}
