import type * as t from 'io-ts'
import type { Services } from '../../application/services.js'
import { authorshipOf } from '../../application/webhooks/authorship.js'
import { webhookById } from '../../application/webhooks/current-state.js'
import { usesOfSecret } from '../../application/secrets/secret-uses.js'
import { automationStatistics } from '../../projections/webhooks/statistics.js'
import type { HasReader } from '../server/run.js'
import { ofLastDay } from './of-last-day.js'
import type { Automation } from '../../domain/webhooks/automations/decider.js'
import {
  automationDescription,
  automationStream,
  condition,
  conditionFields,
  eventType,
  givenScorePath,
  runFilterFields,
  runFilters,
  scope,
  scopeFields,
  templateText,
} from '../../domain/webhooks/automations/events.js'
import { nullable, withDefault } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { boolean, int64, oneOf } from '../../kernel/codec/leaves.js'
import { headerSecrets } from '../../domain/secrets/static-headers.js'
import { query } from '../../domain/query/query.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { id, teamName } from '../../kernel/ids.js'
import { givenMetricName } from '../../domain/runs/given-metrics.js'
import { allOptional, authorshipFields, resourceName } from './webhook-codecs.js'

const newScope = closed('NewAutomationScope', scopeFields)
const newConditionFields = {
  ...conditionFields,
  metric: nullable(givenMetricName),
  score_path: nullable(givenScorePath),
}

/** The only action. */
const actionType = oneOf('webhook')

const newAutomationFields = {
  required: {
    team: teamName,
    payload: templateText,
    scope: newScope,
    event: closed('NewAutomationEvent', { required: { type: eventType }, optional: newConditionFields }),
  },
  optional: {
    description: automationDescription,
    run_filters: nullable(closed('NewRunFilters', { optional: runFilterFields })),
    query: nullable(query),
    enabled: withDefault(boolean, true),
    action_type: withDefault(actionType, 'webhook'),
  },
}

export const newAutomation = closed('NewAutomation', {
  ...newAutomationFields,
  required: { name: resourceName, webhook: resourceName, ...newAutomationFields.required },
})

/** An automation that may still lack its name and its webhook. */
export const previewedAutomation = closed('PreviewedAutomation', {
  ...newAutomationFields,
  optional: {
    name: withDefault(resourceName, ''),
    webhook: nullable(resourceName),
    ...newAutomationFields.optional,
  },
})

const eventChange = closed('AutomationEventChange', {
  optional: { type: withDefault(eventType, undefined), ...allOptional(newConditionFields) },
})
const runFilterChange = closed('RunFilterChange', { optional: allOptional(runFilterFields) })

/** Absent fields keep their values, also inside `event` and `run_filters`; null removes an option. */
export const automationChange = closed('AutomationChange', {
  optional: allOptional({
    name: resourceName,
    webhook: resourceName,
    payload: templateText,
    scope: newScope,
    event: eventChange,
    description: automationDescription,
    run_filters: nullable(runFilterChange),
    query: nullable(query),
    enabled: boolean,
    action_type: actionType,
  }),
})

export const automationJson = open('Automation', {
  says:
    "An automation. `webhook` is the webhook's id. `broken`: why no message can be sent, until the webhook or the secret " +
    'is replaced.',
  required: {
    id,
    team: teamName,
    name: resourceName,
    webhook: id,
    action_type: actionType,
    payload: templateText,
    scope,
    event: condition,
    enabled: boolean,
  },
  optional: {
    description: automationDescription,
    run_filters: nullable(runFilters),
    /** A further condition over the variables of the event, in the grammar of queries of calls. */
    query: nullable(query),
    broken: nullable(oneOf('webhook_deleted', 'secret_destroyed')),
    last_fired_at: nullable(instant),
    /** Deliveries scheduled and given up in the last 24 hours. */
    fired_24h: nullable(int64),
    failed_24h: nullable(int64),
    ...authorshipFields,
  },
})

/** Shows automations of a team. */
export const showingAutomations = async (
  services: Pick<Services, 'eventStore' | 'ids' | 'clock'>,
  team: string,
  { reader }: HasReader,
): Promise<(automation: Automation) => Promise<t.TypeOf<typeof automationJson>>> => {
  const statistics = await ofLastDay(services, automationStatistics(reader), team)
  return async ({ id, team, content: { secret: _, access_token: __, ...content }, enabled }) => {
    const { lastFiredAt = null, fired = 0, failed = 0 } = statistics?.get(id) ?? {}
    return {
      id,
      team,
      action_type: 'webhook',
      ...content,
      enabled,
      broken: await whyBroken(services, team, content.webhook),
      last_fired_at: lastFiredAt,
      fired_24h: statistics === null ? null : fired,
      failed_24h: statistics === null ? null : failed,
      ...(await authorshipOf(services, automationStream(id))),
    }
  }
}

const whyBroken = async (
  services: Pick<Services, 'eventStore' | 'ids'>,
  team: string,
  id: string,
): Promise<'webhook_deleted' | 'secret_destroyed' | null> => {
  const webhook = await webhookById(services, id)
  if (webhook === null || webhook.deleted) return 'webhook_deleted'
  const { access_token, secret, headers } = webhook.content
  for (const name of [access_token, secret, ...headerSecrets(headers)])
    if (name !== null && (await usesOfSecret(services, team, name)) === undefined) return 'secret_destroyed'
  return null
}
