import { USUAL_ZSCORE_WINDOW } from './matching/windows.js'
import type { AutomationCondition, AutomationScope, EventType } from './events.js'

export type ConditionField = Exclude<keyof AutomationCondition, 'type'>

interface Fields {
  readonly scopes: readonly AutomationScope['type'][]
  /** Required fields. */
  readonly required: readonly ConditionField[]
  /** Optional fields with their defaults. */
  readonly defaults: Partial<AutomationCondition>
}

const plain = (...scopes: Fields['scopes']): Fields => ({ scopes, required: [], defaults: {} })

const TAGS: Fields = { scopes: ['project', 'registry'], required: [], defaults: { tag_pattern: null } }

const FIELDS: Readonly<Record<EventType, Fields>> = {
  ADD_ARTIFACT_ALIAS: { scopes: ['project', 'registry'], required: ['alias_pattern'], defaults: {} },
  ADD_ARTIFACT_TAG: TAGS,
  REMOVE_ARTIFACT_TAG: TAGS,
  CREATE_ARTIFACT: plain('project'),
  LINK_ARTIFACT: plain('registry'),
  UNLINK_ARTIFACT: plain('registry'),
  RUN_METRIC: {
    scopes: ['project'],
    required: ['metric', 'comparison', 'threshold'],
    defaults: { aggregation: null, window: 1 },
  },
  RUN_METRIC_CHANGE: {
    scopes: ['project'],
    required: ['metric', 'change_type', 'change_amount'],
    // The prior window defaults to the length of `window`.
    defaults: { aggregation: null, window: 1, prior_window: null, change_direction: 'ANY' },
  },
  RUN_METRIC_ZSCORE: {
    scopes: ['project'],
    required: ['metric', 'threshold'],
    defaults: { window: USUAL_ZSCORE_WINDOW, change_direction: 'ANY' },
  },
  RUN_STATE: { scopes: ['project'], required: ['states'], defaults: {} },
  CALL_FAILED: plain('project'),
  CALL_USAGE_THRESHOLD: {
    scopes: ['project'],
    required: ['measure', 'comparison', 'threshold'],
    defaults: {},
  },
  WEBHOOK_DISABLED: plain('team'),
  DELIVERY_DEAD: plain('team'),
  BUDGET_REACHED: plain('team'),
  EVALUATION_FINISHED: {
    scopes: ['project'],
    required: [],
    defaults: { outcomes: null, evaluation_pattern: null },
  },
  SCORE_THRESHOLD: {
    scopes: ['project'],
    required: ['scorer', 'comparison', 'threshold'],
    defaults: { score_path: null },
  },
}

/** The scopes that a condition type allows, and its fields. */
export const fieldsFor = (type: EventType): Fields => FIELDS[type]
