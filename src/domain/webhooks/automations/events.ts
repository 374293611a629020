import type * as t from 'io-ts'
import { arrayOf, nullable, nullableText, withDefault } from '../../../kernel/codec/containers.js'
import { boolean, integerBetween, number, oneOf } from '../../../kernel/codec/leaves.js'
import { open } from '../../../kernel/codec/struct.js'
import { textUpToBytes, textUpToCharacters } from '../../../kernel/codec/text.js'
import type { EventOf } from '../../../kernel/decider.js'
import { id, teamName, registryName } from '../../../kernel/ids.js'
import { pathIn } from '../../query/field-path.js'
import { query } from '../../query/query.js'
import { runOutcome } from '../../evaluations/evaluation-run.js'
import { metricName } from '../../runs/events.js'
import { secretName } from '../../secrets/secret.js'

const automationName = textUpToBytes(256)
const pattern = textUpToBytes(512)
export const templateText = textUpToBytes(64 * 1024)
export const automationDescription = nullableText(textUpToBytes(4096))

/** Event types that automations can watch, as in `${event_type}`. */
export const EVENT_TYPES = [
  'ADD_ARTIFACT_ALIAS',
  'ADD_ARTIFACT_TAG',
  'REMOVE_ARTIFACT_TAG',
  'CREATE_ARTIFACT',
  'LINK_ARTIFACT',
  'UNLINK_ARTIFACT',
  'RUN_METRIC',
  'RUN_METRIC_CHANGE',
  'RUN_METRIC_ZSCORE',
  'RUN_STATE',
  'CALL_FAILED',
  'CALL_USAGE_THRESHOLD',
  'WEBHOOK_DISABLED',
  'WEBHOOK_FAILING',
  'DELIVERY_DEAD',
  'BUDGET_REACHED',
  'EVALUATION_FINISHED',
  'SCORE_THRESHOLD',
] as const
export const eventType = oneOf(...EVENT_TYPES)
export type EventType = t.TypeOf<typeof eventType>

const aggregation = oneOf('MAX', 'MIN', 'AVERAGE')
const comparison = oneOf('$gt', '$gte', '$lt', '$lte', '$eq', '$ne')
export const MOST_WINDOW = 1000
const window = integerBetween(1, MOST_WINDOW)
const scorerName = textUpToBytes(512)
/** A field path into a score. Older automations may have one that is no longer accepted. */
const scorePath = textUpToBytes(512)
export const givenScorePath = pathIn(scorePath)

/**
 * What an automation watches: one collection, all collections of a registry or project including later ones, or the
 * team.
 */
export const scopeFields = {
  required: { type: oneOf('project', 'registry', 'team') },
  optional: {
    entity: nullable(teamName),
    project: nullableText(textUpToCharacters(128)),
    registry: nullable(registryName),
  },
}
export const scope = open('AutomationScope', scopeFields)
export type AutomationScope = t.TypeOf<typeof scope>

/** Fields of a condition. Its type decides which of them apply. */
export const conditionFields = {
  alias_pattern: nullable(pattern),
  tag_pattern: nullable(pattern),
  metric: nullable(metricName),
  aggregation: nullable(aggregation),
  window: nullable(window),
  comparison: nullable(comparison),
  threshold: nullable(number),
  prior_window: nullable(window),
  change_type: nullable(oneOf('ABSOLUTE', 'RELATIVE')),
  change_direction: nullable(oneOf('INCREASE', 'DECREASE', 'ANY')),
  change_amount: nullable(number),
  states: nullable(arrayOf(oneOf('RUNNING', 'FINISHED', 'FAILED'))),
  measure: nullable(oneOf('total_tokens', 'cost', 'latency_ms')),
  outcomes: nullable(arrayOf(runOutcome)),
  evaluation_pattern: nullable(pattern),
  scorer: nullable(scorerName),
  score_path: nullable(scorePath),
}

export const condition = open('AutomationEvent', { required: { type: eventType }, optional: conditionFields })
export type AutomationCondition = t.TypeOf<typeof condition>

export const runFilterFields = { user: nullableText(textUpToBytes(128)), name_pattern: nullable(pattern) }
export const runFilters = open('RunFilters', { optional: runFilterFields })

const content = {
  required: { name: automationName, webhook: id, payload: templateText, scope, event: condition },
  optional: {
    description: automationDescription,
    run_filters: nullable(runFilters),
    /** A further condition, over the variables of the event. */
    query: nullable(query),
    /**
     * The webhook's secrets when the payload was saved: `$NAME` in the payload means these, even if the webhook
     * changes. Earlier releases did not store the name of the access token.
     */
    secret: nullable(secretName),
    access_token: nullable(secretName),
  },
}

/** `webhook` is the webhook's id. */
export const automationContent = open('AutomationContent', content)
export type AutomationContent = t.TypeOf<typeof automationContent>

const required = { id, team: teamName }

const automationCreated = open('AutomationCreated', {
  says: 'An automation was created. Events that match its trigger send its payload to its webhook.',
  required: { ...required, ...content.required, enabled: boolean },
  optional: content.optional,
})

const automationChanged = open('AutomationChanged', {
  says: 'An automation was updated. `resets`: whether its trigger changed, which resets its cooldowns.',
  required: { ...required, ...content.required },
  optional: { ...content.optional, resets: withDefault(boolean, false) },
})

const automationEnabled = open('AutomationEnabled', {
  says: 'An automation was enabled. Events from while it was disabled do not trigger it.',
  required,
})

const automationDisabled = open('AutomationDisabled', { says: 'An automation was disabled.', required })

const automationDeleted = open('AutomationDeleted', {
  says: 'An automation was deleted permanently.',
  required,
})

export const automationEvents = {
  AutomationCreated: automationCreated,
  AutomationChanged: automationChanged,
  AutomationEnabled: automationEnabled,
  AutomationDisabled: automationDisabled,
  AutomationDeleted: automationDeleted,
}

export type AutomationEvent = EventOf<typeof automationEvents>

export const automationStream = (id: string): string => `automation-${id}`
