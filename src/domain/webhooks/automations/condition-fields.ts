import { USUAL_ZSCORE_WINDOW } from './matching/windows.js'
import type { VariableName } from '../templates/variables.js'
import type { AutomationCondition, AutomationScope, EventType } from './events.js'

export type ConditionField = Exclude<keyof AutomationCondition, 'type'>

/** What an event type takes and gives. */
interface EventInfo {
  readonly scopes: readonly AutomationScope['type'][]
  /** Required fields. */
  readonly required: readonly ConditionField[]
  /** Optional fields with their defaults. */
  readonly defaults: Partial<AutomationCondition>
  /** Variables that may have a value, besides those of every event. */
  readonly variables: readonly VariableName[]
  /** Whether `artifact_metadata.KEY` may have one too. */
  readonly hasMetadata?: true
  /** The types of the log's events that can trigger it. */
  readonly sources: readonly string[]
}

/** Variables that may have a value for every event. */
export const COMMON_VARIABLES: readonly VariableName[] = [
  'event_type',
  'event_author',
  'entity_name',
  'project_name',
]

const VERSION: readonly VariableName[] = [
  'artifact_collection_name',
  'artifact_version',
  'artifact_version_string',
]
const RUN: readonly VariableName[] = ['run_id', 'run_name']
const CALL: readonly VariableName[] = ['call_id', 'call_url']
const FIGURE: readonly VariableName[] = ['metric_name', 'metric_value', 'threshold']

const plain = (
  sources: EventInfo['sources'],
  variables: readonly VariableName[],
  ...scopes: EventInfo['scopes']
): EventInfo => ({ sources, scopes, required: [], defaults: {}, variables })
const ofVersion = (source: string, ...scopes: EventInfo['scopes']): EventInfo => ({
  ...plain([source], VERSION, ...scopes),
  hasMetadata: true,
})

const ofTag = (source: string): EventInfo => ({
  ...ofVersion(source, 'project', 'registry'),
  defaults: { tag_pattern: null },
  variables: ['tag', ...VERSION],
})

const EVENTS: Readonly<Record<EventType, EventInfo>> = {
  ADD_ARTIFACT_ALIAS: {
    ...ofVersion('AliasAdded', 'project', 'registry'),
    required: ['alias_pattern'],
    variables: ['alias', ...VERSION],
  },
  ADD_ARTIFACT_TAG: ofTag('TagAdded'),
  REMOVE_ARTIFACT_TAG: ofTag('TagRemoved'),
  CREATE_ARTIFACT: ofVersion('VersionCreated', 'project'),
  LINK_ARTIFACT: ofVersion('VersionLinked', 'registry'),
  UNLINK_ARTIFACT: ofVersion('VersionUnlinked', 'registry'),
  RUN_METRIC: {
    sources: ['MetricsLogged', 'HistoryLogged'],
    scopes: ['project'],
    required: ['metric', 'comparison', 'threshold'],
    defaults: { aggregation: null, window: 1 },
    variables: [...RUN, ...FIGURE],
  },
  RUN_METRIC_CHANGE: {
    sources: ['MetricsLogged', 'HistoryLogged'],
    scopes: ['project'],
    required: ['metric', 'change_type', 'change_amount'],
    // The prior window defaults to the length of `window`.
    defaults: { aggregation: null, window: 1, prior_window: null, change_direction: 'ANY' },
    variables: [...RUN, ...FIGURE],
  },
  RUN_METRIC_ZSCORE: {
    sources: ['MetricsLogged', 'HistoryLogged'],
    scopes: ['project'],
    required: ['metric', 'threshold'],
    defaults: { window: USUAL_ZSCORE_WINDOW, change_direction: 'ANY' },
    variables: [...RUN, ...FIGURE],
  },
  RUN_STATE: {
    ...plain(['RunStarted', 'RunResumed', 'RunFinished', 'RunFailed'], [...RUN, 'run_state'], 'project'),
    required: ['states'],
  },
  CALL_FAILED: plain(['CallEnded'], CALL, 'project'),
  CALL_USAGE_THRESHOLD: {
    sources: ['CallStarted', 'CallEnded'],
    scopes: ['project'],
    required: ['measure', 'comparison', 'threshold'],
    defaults: {},
    variables: [...CALL, ...FIGURE],
  },
  WEBHOOK_DISABLED: plain(['WebhookDisabled'], ['webhook_id', 'reason'], 'team'),
  WEBHOOK_FAILING: plain(['WebhookFailing'], ['webhook_id', 'reason'], 'team'),
  DELIVERY_DEAD: plain(['AttemptFinished'], ['delivery_id', 'reason'], 'team'),
  BUDGET_REACHED: plain(['BudgetReached'], FIGURE, 'team'),
  EVALUATION_FINISHED: {
    sources: ['EvaluationRunFinished'],
    scopes: ['project'],
    required: [],
    defaults: { outcomes: null, evaluation_pattern: null },
    variables: [...RUN, 'run_state', ...CALL, 'reason'],
  },
  SCORE_THRESHOLD: {
    sources: ['EvaluationRunFinished', 'FeedbackGiven'],
    scopes: ['project'],
    required: ['scorer', 'comparison', 'threshold'],
    defaults: { score_path: null },
    variables: [...CALL, ...FIGURE],
  },
}

/** The scopes that an event type allows, its fields, and its variables. */
export const fieldsFor = (type: EventType): EventInfo => EVENTS[type]
