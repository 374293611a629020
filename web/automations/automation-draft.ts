import type { Automation, Schemas } from '../kit/api.js'
import type { EventInfo } from './event-types.js'

type NewAutomation = Schemas['NewAutomation']
export type EventType = EventInfo['type']
export type ScopeType = Schemas['AutomationScope']['type']

/** The editor's fields as they are typed. */
export interface AutomationDraft {
  readonly scope: ScopeType
  /** Of the project or registry. */
  readonly scopeName: string
  readonly type: EventType
  /** By the name of the event's field; lists are separated by commas. */
  readonly fields: Readonly<Record<string, string>>
  readonly user: string
  readonly namePattern: string
  /** A further condition as JSON, '' for none. */
  readonly query: string
  readonly webhook: string
  readonly payload: string
  readonly name: string
  readonly description: string
  readonly enabled: boolean
}

/** The draft of a new automation, for the project that the user came from. */
const emptyAutomation = (project: string): AutomationDraft => ({
  scope: 'project',
  scopeName: project,
  type: 'ADD_ARTIFACT_ALIAS',
  fields: {},
  user: '',
  namePattern: '',
  query: '',
  webhook: '',
  payload: '',
  name: '',
  description: '',
  enabled: true,
})

/** The draft that an address begins: `?project=support&event=CALL_USAGE_THRESHOLD&measure=cost`. */
export const automationIn = (
  { project = '', event, query = '', ...fields }: Readonly<Record<string, string>>,
  events: readonly EventInfo[],
): AutomationDraft => {
  const info = events.find((one) => one.type === event)
  const empty = emptyAutomation(project)
  if (info === undefined) return empty
  const scope = info.scopes.includes(empty.scope) ? empty.scope : info.scopes[0]!
  return { ...empty, scope, type: info.type, query, fields }
}

export const draftOfAutomation = (automation: Automation): AutomationDraft => {
  const { type, ...fields } = automation.event
  return {
    scope: automation.scope.type,
    scopeName: automation.scope.project ?? automation.scope.registry ?? '',
    type,
    fields: Object.fromEntries(
      Object.entries(fields)
        .filter(([, value]) => value !== null)
        .map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : String(value)]),
    ),
    user: automation.run_filters?.user ?? '',
    namePattern: automation.run_filters?.name_pattern ?? '',
    query: automation.query ? JSON.stringify(automation.query, null, 2) : '',
    webhook: automation.webhook,
    payload: automation.payload,
    name: automation.name,
    description: automation.description ?? '',
    enabled: automation.enabled,
  }
}

/** The labels of the fields, as users of W&B know them. */
export const FIELD_LABELS: Readonly<Record<string, string>> = {
  alias_pattern: 'Alias regex',
  tag_pattern: 'Tag regex',
  metric: 'Metric name',
  aggregation: 'Aggregation',
  window: 'Window',
  prior_window: 'Prior window',
  comparison: 'Comparison',
  threshold: 'Threshold',
  change_type: 'Change type',
  change_direction: 'Direction',
  change_amount: 'Change by at least',
  states: 'Run status',
  measure: 'Measure',
  outcomes: 'Outcome',
  evaluation_pattern: 'Evaluation name regex',
  scorer: 'Scorer',
  score_path: 'Path in the score',
}

export const CHOICE_LABELS: Readonly<Record<string, string>> = {
  $gt: 'Above',
  $gte: 'Above or equal',
  $lt: 'Below',
  $lte: 'Below or equal',
  $eq: 'Equal to',
  $ne: 'Not equal to',
  MAX: 'Max',
  MIN: 'Min',
  AVERAGE: 'Average',
  ABSOLUTE: 'Absolute',
  RELATIVE: 'Relative',
  INCREASE: 'Increases',
  DECREASE: 'Decreases',
  ANY: 'Increases or decreases',
  RUNNING: 'Running',
  FINISHED: 'Finished',
  FAILED: 'Failed',
  total_tokens: 'Tokens',
  cost: 'Cost in dollars',
  latency_ms: 'Duration in milliseconds',
}

export const EVENT_LABELS: Readonly<Record<EventType, string>> = {
  ADD_ARTIFACT_ALIAS: 'An artifact alias is added',
  ADD_ARTIFACT_TAG: 'An artifact tag is added',
  REMOVE_ARTIFACT_TAG: 'An artifact tag is removed',
  CREATE_ARTIFACT: 'A new version of an artifact is created',
  LINK_ARTIFACT: 'An artifact is linked to a registry',
  UNLINK_ARTIFACT: 'An artifact is unlinked from a registry',
  RUN_METRIC: 'A run metric reaches a threshold',
  RUN_METRIC_CHANGE: 'A run metric changes',
  RUN_METRIC_ZSCORE: 'A run metric has an unusual value (z-score)',
  RUN_STATE: 'The status of a run changes',
  CALL_FAILED: 'A call fails',
  CALL_USAGE_THRESHOLD: 'A call uses much',
  WEBHOOK_DISABLED: 'A webhook is disabled',
  WEBHOOK_FAILING: 'A webhook keeps failing',
  DELIVERY_DEAD: 'A delivery fails for good',
  BUDGET_REACHED: 'A budget is reached',
  EVALUATION_FINISHED: 'An evaluation finishes',
  SCORE_THRESHOLD: 'A score reaches a threshold',
}

const valueOf = (kind: EventInfo['fields'][number]['kind'], text: string): unknown => {
  if (text.trim() === '') return null
  if (kind === 'choices') return text.split(',')
  if (kind !== 'number' && kind !== 'integer') return text
  // What is no number is sent as it is, so that the service says so at the field.
  return Number.isNaN(Number(text)) ? text : Number(text)
}

export const takesRunFilters = (type: EventType): boolean => type.startsWith('RUN_')

/** The body of requests that create, change or preview the automation. Throws a SyntaxError if the condition is no JSON. */
export const bodyOfAutomation = (team: string, draft: AutomationDraft, info: EventInfo): NewAutomation => {
  const fields = info.fields.map(({ name, kind }) => [name, valueOf(kind, draft.fields[name] ?? '')] as const)
  const name = draft.scopeName.trim()
  return {
    team,
    name: draft.name.trim(),
    description: draft.description.trim() || null,
    webhook: draft.webhook,
    payload: draft.payload,
    enabled: draft.enabled,
    action_type: 'webhook',
    scope:
      draft.scope === 'team'
        ? { type: 'team' }
        : draft.scope === 'project'
          ? { type: 'project', project: name }
          : { type: 'registry', registry: name },
    event: { type: draft.type, ...Object.fromEntries(fields.filter(([, value]) => value !== null)) },
    run_filters:
      takesRunFilters(draft.type) && draft.user + draft.namePattern !== ''
        ? { user: draft.user.trim() || null, name_pattern: draft.namePattern.trim() || null }
        : null,
    query: draft.query.trim() === '' ? null : (JSON.parse(draft.query) as never),
  }
}

/** A message with all variables of an event, as the beginning of a payload. */
const samplePayload = (info: EventInfo): string => {
  const names = info.variables.map(({ name }) => name).filter((name) => /^\w+$/.test(name))
  return `{\n${names.map((name) => `  "${name}": "\${${name}}"`).join(',\n')}\n}`
}

export const EXAMPLES: readonly (readonly [label: string, payload: (info: EventInfo) => string])[] = [
  ['All variables', samplePayload],
  [
    'Repository dispatch',
    (info) =>
      `{\n  "event_type": "\${event_type}",\n  "client_payload": ${samplePayload(info).replaceAll('\n', '\n  ')}\n}`,
  ],
  [
    'Chat message',
    ({ variables }) =>
      '{\n  "text": "${event_type} in ${entity_name}/${project_name} by ${event_author}' +
      `${variables.some(({ name }) => name === 'call_url') ? ' ${call_url}' : ''}"\n}`,
  ],
]
