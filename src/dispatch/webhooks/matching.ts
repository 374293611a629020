import {
  cooldownOf,
  judge,
  needsVersion,
  valuesNeeded,
} from '../../domain/webhooks/automations/matching/judge.js'
import type {
  ArtifactTrigger,
  Trigger,
  VersionInfo,
} from '../../domain/webhooks/automations/matching/trigger.js'
import { triggerOf } from '../../domain/webhooks/automations/matching/trigger-of.js'
import { variablesFor, type MessageNames } from '../../domain/webhooks/automations/matching/variables.js'
import { findVersionInfo } from '../../domain/webhooks/automations/matching/version-info.js'
import type { EventType } from '../../domain/webhooks/automations/events.js'
import type { Figure } from '../../domain/webhooks/automations/matching/verdict.js'
import type { AutomationVersion } from '../../domain/webhooks/automations/state.js'
import type { DispatcherState } from '../../domain/webhooks/deliveries/dispatcher-state.js'
import type { EventStore, RecordedEvent } from '../../kernel/ports/event-store.js'
import type { Pattern } from '../../kernel/ports/patterns.js'
import { costOf } from '../../domain/calls/call-cost.js'
import type { PricesAtPosition } from '../../domain/prices/price-history.js'
import { variablesIn, type Template } from '../../domain/webhooks/templates/template.js'
import { METADATA_PREFIX, type Variables } from '../../domain/webhooks/templates/variables.js'
import type { Automations } from './automations.js'
import { openCooldowns } from './cooldowns.js'
import type { MetricValues } from './metric-values.js'
import type { TemplateOf } from './templates.js'

/** A match of an automation, with the variables of its message. */
export interface Matched {
  readonly automation: AutomationVersion
  readonly eventType: EventType
  readonly team: string
  /** Null if the delivery that the event is about has it. */
  readonly depth: number | null
  readonly variables: Variables
}

interface Matching {
  readonly eventStore: Pick<EventStore, 'readStream'>
  readonly state: Pick<DispatcherState, 'get' | 'put' | 'remove' | 'some'>
  readonly automations: Automations
  readonly prices: PricesAtPosition
  readonly values: MetricValues
  /** Reads the lines of a history that are in a blob. */
  readonly whole: (event: RecordedEvent) => Promise<RecordedEvent>
  readonly templates: TemplateOf
  readonly pattern: (source: string) => Pattern
  readonly names: MessageNames
}

/**
 * Evaluates automations against an event. The result depends only on earlier events, so that a replay gives the same
 * matches.
 */
export const matching = (given: Matching) => {
  const { eventStore, automations, values } = given
  const isIgnored = isIgnoredBy(automations)
  const cooldowns = openCooldowns(given.state)

  const figureOf = async (
    automation: AutomationVersion,
    trigger: Trigger,
    versionOf: (trigger: ArtifactTrigger) => Promise<VersionInfo | undefined>,
  ): Promise<{ figure: Figure | null } | undefined> => {
    const needed = valuesNeeded(automation, trigger)
    const window = needed && (await values.before(trigger, needed.metric, needed.count))
    const key = cooldownKey(automation, trigger)
    const verdict = judge(automation, trigger, {
      pattern: given.pattern,
      values: (_, count) => (count === 0 ? [] : (window ?? []).slice(-count)),
      cost: (charged) => costOf(given.prices, charged),
      shown:
        trigger.kind === 'artifact' && needsVersion(automation, trigger)
          ? await versionOf(trigger)
          : undefined,
      lastMatch: key === undefined ? undefined : cooldowns.last(key),
    })
    if (!verdict.matched) return undefined
    if (key !== undefined) cooldowns.note(key, trigger)
    return verdict
  }

  const variablesOf = async (
    automation: AutomationVersion,
    trigger: Trigger,
    eventType: EventType,
    figure: Figure | null,
    versionOf: (trigger: ArtifactTrigger) => Promise<VersionInfo | undefined>,
  ): Promise<Variables> => {
    const template = given.templates(automation.content)
    if (template === undefined) return {}
    const shown =
      trigger.kind === 'artifact' && tellsOfVersion(template) ? await versionOf(trigger) : undefined
    return variablesFor(template, trigger, { eventType, figure, shown, ...given.names })
  }

  return async (event: RecordedEvent): Promise<readonly Matched[]> => {
    if (isIgnored(event)) return []
    const isHistory = event.type === 'HistoryLogged'
    if (isHistory && !watchesMetrics(automations)) return []
    const trigger = triggerOf(isHistory ? await given.whole(event) : event)
    if (trigger === undefined) return []
    let version: Promise<VersionInfo | undefined> | undefined
    const versionOf = (of: ArtifactTrigger) =>
      (version ??= Promise.resolve(of.shown ?? findVersionInfo({ eventStore }, of, of.version)))
    const found: Matched[] = []
    for (const eventType of trigger.types)
      for (const automation of automations.watching(trigger.team, eventType)) {
        const met = await figureOf(automation, trigger, versionOf)
        if (met === undefined) continue
        const variables = await variablesOf(automation, trigger, eventType, met.figure, versionOf)
        found.push({ automation, eventType, team: trigger.team, depth: trigger.depth, variables })
      }
    return found
  }
}

/** Most events are calls, and most services do not watch them. */
export const isIgnoredBy =
  (automations: Automations) =>
  ({ stream }: RecordedEvent): boolean =>
    stream.startsWith('call-') && !watchesCalls(automations)
const watchesCalls = ({ isAnyWatching }: Automations) =>
  isAnyWatching('CALL_FAILED') || isAnyWatching('CALL_USAGE_THRESHOLD')

const METRICS = ['RUN_METRIC', 'RUN_METRIC_CHANGE', 'RUN_METRIC_ZSCORE'] as const
const watchesMetrics = ({ isAnyWatching }: Automations) => METRICS.some(isAnyWatching)

const cooldownKey = ({ id }: AutomationVersion, trigger: Trigger): string | undefined => {
  const run = cooldownOf(trigger)
  return run && `${id}\n${run.project_id}/${run.run_id}`
}

const tellsOfVersion = (template: Template): boolean =>
  variablesIn(template).some((name) => name === 'artifact_version' || name.startsWith(METADATA_PREFIX))
