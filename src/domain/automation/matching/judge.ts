import type { Pattern } from '../../ports/patterns.js'
import type { Position } from '../../ports/event-store.js'
import type { AutomationScope } from '../events.js'
import type { AutomationVersion } from '../state.js'
import type { ArtifactTrigger, RunTrigger, Trigger } from './trigger.js'
import { judgeCall, type CostOf } from './measures.js'
import { matched, unmet, type Verdict } from './verdict.js'
import { judgeValues, spansOf } from './windows.js'

/** After a match, the same run is silent for this long, by the log's time. */
export const COOLDOWN_MS = 24 * 3600 * 1000

/** What a judgement needs to know beside the event; all of it follows from events before it. */
export interface Known {
  /** The pattern of a source text, compiled: see `patterns.ts`. */
  readonly pattern: (source: string) => Pattern
  /**
   * The last `count` values of a metric of the trigger's run in log order, this event's last; fewer where there are no
   * more. Asked for as {@link valuesNeeded} says, and never more.
   */
  readonly values: (metric: string, count: number) => readonly number[]
  readonly cost: CostOf
  /** The last event before this one that the automation matched for the same run. */
  readonly lastMatch: Match | undefined
}

export interface Match {
  readonly position: Position
  readonly at: Date
}

/** What `values` will be asked for, so that it can be read before: undefined for nothing. */
export const valuesNeeded = (
  { content }: AutomationVersion,
  trigger: Trigger,
): { readonly metric: string; readonly count: number } | undefined => {
  const spans = spansOf(content.event)
  if (spans === undefined || trigger.kind !== 'run' || !Object.hasOwn(trigger.metrics, spans.metric))
    return undefined
  return { metric: spans.metric, count: spans.now + spans.prior }
}

/** The run whose matches keep an automation silent for a while; undefined for what has no such cooldown. */
export const cooldownOf = (
  trigger: Trigger,
): { readonly project_id: string; readonly run_id: string } | undefined =>
  trigger.kind === 'run' ? { project_id: trigger.project_id, run_id: trigger.run_id } : undefined

/**
 * Whether an event makes an automation fire, or the first of its conditions that it does not meet.
 *
 * @param automation the version in force for the event, see `versionAt`; undefined where there was none yet
 */
export const judge = (automation: AutomationVersion | undefined, trigger: Trigger, known: Known): Verdict => {
  if (automation === undefined) return unmet({ why: 'not_there' })
  const outside = notWatching(automation, trigger)
  if (outside !== undefined) return unmet({ why: outside })
  const verdict = judgeConditions(automation, trigger, known)
  if (!verdict.matched || cooldownOf(trigger) === undefined) return verdict
  const until = silentUntil(automation, known.lastMatch)
  return until !== undefined && trigger.at < until ? unmet({ why: 'cooldown', until }) : verdict
}

const notWatching = (
  { content, enabled, deleted, team }: AutomationVersion,
  trigger: Trigger,
): 'deleted' | 'disabled' | 'event_type' | 'scope' | undefined => {
  if (deleted) return 'deleted'
  if (!enabled) return 'disabled'
  if (!trigger.types.includes(content.event.type)) return 'event_type'
  return trigger.team === team && covers(content.scope, trigger) ? undefined : 'scope'
}

const covers = ({ type, entity, project, registry }: AutomationScope, trigger: Trigger): boolean => {
  switch (type) {
    case 'project':
      return 'project_id' in trigger && trigger.project_id === `${entity}/${project}`
    case 'registry':
      return trigger.kind === 'artifact' && trigger.registry !== null && trigger.registry === registry
    case 'team':
      return trigger.kind === 'webhook' || trigger.kind === 'delivery' || trigger.kind === 'budget'
    default:
      return type satisfies never
  }
}

const judgeConditions = (automation: AutomationVersion, trigger: Trigger, known: Known): Verdict => {
  switch (trigger.kind) {
    case 'artifact':
      return judgeArtifact(automation, trigger, known)
    case 'run':
      return judgeRun(automation, trigger, known)
    case 'call':
      return judgeCall(automation, trigger, known.cost)
    case 'budget': {
      const { of, spent, level } = trigger
      return matched({ metric_name: `${of}_budget_percent`, metric_value: spent, threshold: level })
    }
    case 'webhook':
    case 'delivery':
      return matched()
    default:
      return trigger satisfies never
  }
}

const judgeArtifact = (
  { content: { event } }: AutomationVersion,
  { alias, tag }: ArtifactTrigger,
  { pattern }: Known,
): Verdict => {
  const fits = (source: string | null, text: string | null) =>
    source === null || text === null || pattern(source)(text)
  if (!fits(event.alias_pattern, alias)) return unmet({ why: 'alias_pattern' })
  return fits(event.tag_pattern, tag) ? matched() : unmet({ why: 'tag_pattern' })
}

const judgeRun = (
  { content: { event, run_filters } }: AutomationVersion,
  { user, name, state, metrics }: RunTrigger,
  { pattern, values }: Known,
): Verdict => {
  if (run_filters !== null && run_filters.user !== null && run_filters.user !== user)
    return unmet({ why: 'run_user' })
  if (run_filters !== null && run_filters.name_pattern !== null && !pattern(run_filters.name_pattern)(name))
    return unmet({ why: 'run_name_pattern' })
  if (state !== null)
    return event.states?.some((one) => one === state) === true ? matched() : unmet({ why: 'state' })
  const spans = spansOf(event)
  if (spans === undefined || !Object.hasOwn(metrics, spans.metric)) return unmet({ why: 'metric_absent' })
  const judged = judgeValues(event, spans, values(spans.metric, spans.now + spans.prior))
  return 'why' in judged ? unmet(judged) : matched(judged)
}

/** Matches of conditions that have changed since are forgotten. */
const silentUntil = (
  { conditionsSince }: AutomationVersion,
  lastMatch: Match | undefined,
): Date | undefined =>
  lastMatch !== undefined && lastMatch.position > conditionsSince
    ? new Date(lastMatch.at.getTime() + COOLDOWN_MS)
    : undefined
