import type { Pattern } from '../../../../kernel/ports/patterns.js'
import type { Position } from '../../../../kernel/ports/event-store.js'
import type { AutomationScope } from '../events.js'
import type { AutomationVersion } from '../state.js'
import type { ArtifactTrigger, RunTrigger, Trigger, VersionInfo } from './trigger.js'
import { askedFields } from '../../../query/asked-fields.js'
import { meetsQuery } from '../../../query/evaluate.js'
import { METADATA_PREFIX } from '../../templates/variables.js'
import { queryField } from './variables.js'
import { judgeEvaluation, judgeScoreFeedback } from './evaluations.js'
import { judgeCall, type CostOf } from './measures.js'
import { matched, unmet, type Verdict } from './verdict.js'
import { judgeValues, spansOf } from './windows.js'

/** Cooldown after a match for the same run, in log time. */
export const COOLDOWN_MS = 24 * 3600 * 1000

/** The input of a decision besides the event. All of it follows from earlier events. */
export interface JudgeContext {
  /** Compiles a pattern, see `patterns.ts`. */
  readonly pattern: (source: string) => Pattern
  /**
   * The last `count` values of a metric of the trigger's run in log order, before this event's; fewer if there are
   * fewer. Only called for what {@link valuesNeeded} returned.
   */
  readonly values: (metric: string, count: number) => readonly number[]
  readonly cost: CostOf
  /** The version of the artifact, for a query that {@link needsVersion}. */
  readonly shown?: VersionInfo | undefined
  /** The automation's last earlier match for the same run. */
  readonly lastMatch: Match | undefined
}

export interface Match {
  readonly position: Position
  readonly at: Date
}

/** The arguments that `values` will be called with, so that they can be read ahead; undefined for none. */
export const valuesNeeded = (
  { content }: AutomationVersion,
  trigger: Trigger,
): { readonly metric: string; readonly count: number } | undefined => {
  const spans = spansOf(content.event)
  if (
    spans === undefined ||
    trigger.kind !== 'run' ||
    !trigger.rows.some((row) => Object.hasOwn(row, spans.metric))
  )
    return undefined
  return { metric: spans.metric, count: spans.now + spans.prior - 1 }
}

/** Whether the query reads the metadata of the artifact, so that its version must be known. */
export const needsVersion = ({ content: { query } }: AutomationVersion, trigger: Trigger): boolean =>
  trigger.kind === 'artifact' &&
  query !== null &&
  askedFields(query.$expr).some((name) => name.startsWith(METADATA_PREFIX))

/** The run that a cooldown applies to; undefined if the trigger has no cooldown. */
export const cooldownOf = (
  trigger: Trigger,
): { readonly project_id: string; readonly run_id: string } | undefined =>
  trigger.kind === 'run' ? { project_id: trigger.project_id, run_id: trigger.run_id } : undefined

/**
 * Decides whether an event makes an automation fire, or returns the first unmet condition.
 *
 * @param automation the version in force at the event, see `versionsAlong`; undefined if it did not exist yet
 */
export const judge = (
  automation: AutomationVersion | undefined,
  trigger: Trigger,
  context: JudgeContext,
): Verdict => {
  if (automation === undefined) return unmet({ why: 'not_there' })
  const outside = notWatching(automation, trigger)
  if (outside !== undefined) return unmet({ why: outside })
  const { query, event } = automation.content
  const queried = (verdict: Verdict): Verdict => {
    if (!verdict.matched || query === null) return verdict
    const message = { eventType: event.type, figure: verdict.figure, shown: context.shown }
    return meetsQuery(query.$expr, (name) => queryField(name, trigger, message))
      ? verdict
      : unmet({ why: 'query' })
  }
  const verdict =
    trigger.kind === 'run'
      ? judgeRun(automation, trigger, context, queried)
      : queried(judgeConditions(automation, trigger, context))
  if (!verdict.matched) return verdict
  if (cooldownOf(trigger) === undefined) return verdict
  const until = silentUntil(automation, context.lastMatch)
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

const judgeConditions = (
  automation: AutomationVersion,
  trigger: Exclude<Trigger, RunTrigger>,
  context: JudgeContext,
): Verdict => {
  switch (trigger.kind) {
    case 'artifact':
      return judgeArtifact(automation, trigger, context)
    case 'call':
      return judgeCall(automation, trigger, context.cost)
    case 'budget': {
      const { of, spent, level } = trigger
      return matched({ metric_name: `${of}_budget_percent`, metric_value: spent, threshold: level })
    }
    case 'evaluation':
      return judgeEvaluation(automation.content.event, trigger, context.pattern)
    case 'score':
      return judgeScoreFeedback(automation.content.event, trigger)
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
  { pattern }: JudgeContext,
): Verdict => {
  const fits = (source: string | null, text: string | null) =>
    source === null || text === null || pattern(source)(text)
  if (!fits(event.alias_pattern, alias)) return unmet({ why: 'alias_pattern' })
  return fits(event.tag_pattern, tag) ? matched() : unmet({ why: 'tag_pattern' })
}

/** Judges logged rows in order: the first that matches is the match. */
const judgeRun = (
  { content: { event, run_filters } }: AutomationVersion,
  { user, name, state, rows }: RunTrigger,
  { pattern, values }: JudgeContext,
  queried: (verdict: Verdict) => Verdict,
): Verdict => {
  if (run_filters !== null && run_filters.user !== null && run_filters.user !== user)
    return unmet({ why: 'run_user' })
  if (run_filters !== null && run_filters.name_pattern !== null && !pattern(run_filters.name_pattern)(name))
    return unmet({ why: 'run_name_pattern' })
  if (state !== null)
    return queried(event.states?.some((one) => one === state) === true ? matched() : unmet({ why: 'state' }))
  const spans = spansOf(event)
  const own =
    spans === undefined
      ? []
      : rows.flatMap((row) => (Object.hasOwn(row, spans.metric) ? [row[spans.metric]!] : []))
  if (spans === undefined || own.length === 0) return unmet({ why: 'metric_absent' })
  const needs = spans.now + spans.prior
  const all = [...values(spans.metric, needs - 1), ...own]
  let verdict: Verdict = unmet({ why: 'metric_absent' })
  for (let end = all.length - own.length + 1; end <= all.length && !verdict.matched; end += 1) {
    const judged = judgeValues(event, spans, all.slice(Math.max(0, end - needs), end))
    verdict = queried('why' in judged ? unmet(judged) : matched(judged))
  }
  return verdict
}

/** A match before the last change of the conditions does not count. */
const silentUntil = (
  { conditionsSince }: AutomationVersion,
  lastMatch: Match | undefined,
): Date | undefined =>
  lastMatch !== undefined && lastMatch.position > conditionsSince
    ? new Date(lastMatch.at.getTime() + COOLDOWN_MS)
    : undefined
