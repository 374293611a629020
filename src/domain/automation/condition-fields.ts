import { USUAL_ZSCORE_WINDOW } from './matching/windows.js'
import type { AutomationCondition, AutomationScope, EventType } from './events.js'

export type ConditionField = Exclude<keyof AutomationCondition, 'type'>

interface Fields {
  readonly scopes: readonly AutomationScope['type'][]
  /** Those that it cannot do without. */
  readonly needed: readonly ConditionField[]
  /** Those that it may have, with what they are otherwise. */
  readonly usual: Partial<AutomationCondition>
}

const plain = (...scopes: Fields['scopes']): Fields => ({ scopes, needed: [], usual: {} })

const TAGS: Fields = { scopes: ['project', 'registry'], needed: [], usual: { tag_pattern: null } }

const FIELDS: Readonly<Record<EventType, Fields>> = {
  ADD_ARTIFACT_ALIAS: { scopes: ['project', 'registry'], needed: ['alias_pattern'], usual: {} },
  ADD_ARTIFACT_TAG: TAGS,
  REMOVE_ARTIFACT_TAG: TAGS,
  CREATE_ARTIFACT: plain('project'),
  LINK_ARTIFACT: plain('registry'),
  UNLINK_ARTIFACT: plain('registry'),
  RUN_METRIC: {
    scopes: ['project'],
    needed: ['metric', 'comparison', 'threshold'],
    usual: { aggregation: null, window: 1 },
  },
  RUN_METRIC_CHANGE: {
    scopes: ['project'],
    needed: ['metric', 'change_type', 'change_amount'],
    // The window before is as long as the newest one.
    usual: { aggregation: null, window: 1, prior_window: null, change_direction: 'ANY' },
  },
  RUN_METRIC_ZSCORE: {
    scopes: ['project'],
    needed: ['metric', 'threshold'],
    usual: { window: USUAL_ZSCORE_WINDOW, change_direction: 'ANY' },
  },
  RUN_STATE: { scopes: ['project'], needed: ['states'], usual: {} },
  CALL_FAILED: plain('project'),
  CALL_USAGE_THRESHOLD: {
    scopes: ['project'],
    needed: ['measure', 'comparison', 'threshold'],
    usual: {},
  },
  WEBHOOK_DISABLED: plain('team'),
  DELIVERY_DEAD: plain('team'),
  BUDGET_REACHED: plain('team'),
}

/** Where conditions of a type may watch, and which fields they have. */
export const fieldsFor = (type: EventType): Fields => FIELDS[type]
