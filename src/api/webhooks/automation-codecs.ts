import type * as t from 'io-ts'
import type { Services } from '../../application/services.js'
import { authorshipOf } from '../../application/webhooks/authorship.js'
import { webhookById } from '../../application/webhooks/current-state.js'
import { usesOfSecret } from '../../application/secrets/secret-uses.js'
import { automationStatistics } from '../../projections/webhooks/statistics.js'
import type { RouteRequest } from '../server/route.js'
import type { HasReader } from '../server/run.js'
import { ofLastDay } from './of-last-day.js'
import type { Cause } from '../../kernel/event.js'
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
import type { AnyCodec, Codec } from '../../kernel/codec/codec.js'
import { nullable, withDefault } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { boolean, int64, oneOf } from '../../kernel/codec/leaves.js'
import { headerSecrets } from '../../domain/webhooks/static-headers.js'
import { query } from '../../domain/query/query.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { id, teamName } from '../../kernel/ids.js'
import { givenMetricName } from '../../domain/runs/given-metrics.js'
import { authorshipFields, resourceName } from './webhook-codecs.js'

const newScope = closed('NewAutomationScope', scopeFields)
const newConditionFields = {
  ...conditionFields,
  metric: nullable(givenMetricName),
  score_path: nullable(givenScorePath),
}

/** The same fields, all optional; absent ones keep their values. */
const allOptional = <Fields extends Readonly<Record<string, AnyCodec>>>(fields: Fields) =>
  Object.fromEntries(
    Object.entries(fields).map(([field, codec]) => [field, withDefault(codec, undefined)]),
  ) as { [Field in keyof Fields]: Codec<t.TypeOf<Fields[Field]> | undefined> }

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
  optional: {
    name: withDefault(resourceName, undefined),
    webhook: withDefault(resourceName, undefined),
    payload: withDefault(templateText, undefined),
    scope: withDefault(newScope, undefined),
    event: withDefault(eventChange, undefined),
    description: withDefault(automationDescription, undefined),
    run_filters: withDefault(nullable(runFilterChange), undefined),
    query: withDefault(nullable(query), undefined),
    enabled: withDefault(boolean, undefined),
    action_type: withDefault(actionType, undefined),
  },
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
  { reader, cause }: Pick<RouteRequest, 'cause'> & HasReader,
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
      broken: await whyBroken(services, team, content.webhook, cause),
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
  cause: Cause,
): Promise<'webhook_deleted' | 'secret_destroyed' | null> => {
  const webhook = await webhookById(services, id, cause)
  if (webhook === null || webhook.deleted) return 'webhook_deleted'
  const { access_token, secret, headers } = webhook.content
  for (const name of [access_token, secret, ...headerSecrets(headers)])
    if (name !== null && (await usesOfSecret(services, team, name)) === undefined) return 'secret_destroyed'
  return null
}
