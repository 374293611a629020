import type * as t from 'io-ts'
import type { Services } from '../../application/services.js'
import type { RouteRequest } from '../server/route.js'
import type { HasReader } from '../server/run.js'
import { webhookStatistics } from '../../projections/webhooks/statistics.js'
import { deliveryState } from './deliveries/codecs.js'
import { ofLastDay } from './of-last-day.js'
import { hasRole } from '../../application/access/rights.js'
import { authorshipOf } from '../../application/webhooks/authorship.js'
import { automationsOf, healthOfWebhook } from '../../application/webhooks/current-state.js'
import type { AnyCodec, Codec } from '../../kernel/codec/codec.js'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { boolean, int64, number, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { textUpToBytes } from '../../kernel/codec/text.js'
import { id, teamName } from '../../kernel/ids.js'
import {
  type Webhook,
  disablingReason,
  webhookOptions,
  webhookStream,
} from '../../domain/webhooks/webhook.js'
import { healthAt, shownHealthFields } from '../../domain/webhooks/health.js'
import { withoutCredentials } from '../../domain/secrets/credentials.js'

/** The same fields, all optional; absent ones keep their values. */
export const allOptional = <Fields extends Readonly<Record<string, AnyCodec>>>(fields: Fields) =>
  Object.fromEntries(
    Object.entries(fields).map(([field, codec]) => [field, withDefault(codec, undefined)]),
  ) as { [Field in keyof Fields]: Codec<t.TypeOf<Fields[Field]> | undefined> }

/** Names follow the rules of ids: 1 to 256 bytes without control characters. */
export const resourceName = id

const url = textUpToBytes(2048)

export const newWebhookFields = {
  required: { name: resourceName, url },
  optional: { ...webhookOptions, enabled: withDefault(boolean, true) },
}
export const newWebhook = closed('NewWebhook', newWebhookFields)

const { headers, ...options } = webhookOptions

/** Absent fields keep their values; null removes an option. */
export const webhookChange = closed('WebhookChange', {
  optional: allOptional({ name: resourceName, url, ...options, headers, enabled: boolean }),
})

/** Who created and last changed it; `by` is a user, or the service. */
export const authorshipFields = {
  created_at: nullable(instant),
  created_by: nullable(string),
  updated_at: nullable(instant),
  updated_by: nullable(string),
}

const named = open('NamedResource', { required: { id, name: resourceName } })

export const webhookJson = open('Webhook', {
  says:
    'A webhook. `access_token` and `secret` are the names of secrets of its team, `used_by` the automations that send to ' +
    'it, by name. Administrators of projects and registries see its name, state and secret names; all else is null.',
  required: {
    id,
    team: teamName,
    name: resourceName,
    enabled: boolean,
    state: shownHealthFields.required.state,
  },
  optional: {
    url: nullable(url),
    used_by: nullable(arrayOf(named)),
    consecutive_failures: nullable(shownHealthFields.required.consecutive_failures),
    last_delivery: nullable(open('LastDelivery', { required: { id, at: instant, state: deliveryState } })),
    /** Finished attempts of the last 24 hours, and the share that succeeded. */
    attempts_24h: nullable(int64),
    success_rate_24h: nullable(number),
    ...webhookOptions,
    disabled_reason: nullable(disablingReason),
    ...shownHealthFields.optional,
    ...authorshipFields,
  },
})

type WebhookJson = t.TypeOf<typeof webhookJson>

/** Shows webhooks of a team. */
export const showingWebhooks = async (
  services: Pick<Services, 'eventStore' | 'ids' | 'clock' | 'access'>,
  team: string,
  { principal, reader }: Pick<RouteRequest, 'principal'> & HasReader,
): Promise<(webhook: Webhook) => Promise<WebhookJson>> => {
  const show = await showingAll(services, team, { reader })
  if (hasRole(services.access, principal, team, 'team_administrator')) return show
  return async (webhook) => {
    const { id, name, enabled, state, access_token, secret } = await show(webhook)
    return { ...hidden, id, team, name, enabled, state, access_token, secret }
  }
}

const hidden = {
  url: null,
  used_by: null,
  consecutive_failures: null,
  last_delivery: null,
  attempts_24h: null,
  success_rate_24h: null,
  retry_waits_s: null,
  timeout_s: null,
  stop_on_4xx: null,
  max_per_minute: null,
  headers: null,
  disabled_reason: null,
  throttled_until: null,
  failing_since: null,
  next_probe_at: null,
  last_error: null,
  created_at: null,
  created_by: null,
  updated_at: null,
  updated_by: null,
}

const showingAll = async (
  services: Pick<Services, 'eventStore' | 'ids' | 'clock'>,
  team: string,
  { reader }: HasReader,
): Promise<(webhook: Webhook) => Promise<WebhookJson>> => {
  const automations = await automationsOf(services, team)
  const statistics = await ofLastDay(services, webhookStatistics(reader), team)
  return async ({ id, team, content, enabled, disabled }) => {
    const { state, consecutive_failures, throttled_until, failing_since, next_probe_at, last_error } =
      healthAt(await healthOfWebhook(services, id), { enabled }, services.clock.now().getTime())
    const { lastDelivery = null, attempts = 0, succeeded = 0 } = statistics?.get(id) ?? {}
    return {
      id,
      team,
      ...content,
      headers: withoutCredentials(content.headers),
      last_delivery: lastDelivery,
      attempts_24h: statistics === null ? null : attempts,
      success_rate_24h: attempts === 0 ? null : succeeded / attempts,
      enabled,
      disabled_reason: disabled,
      used_by: automations
        .filter(({ content }) => content.webhook === id)
        .map(({ id, content: { name } }) => ({ id, name })),
      state,
      consecutive_failures,
      throttled_until,
      failing_since,
      next_probe_at,
      last_error,
      ...(await authorshipOf(services, webhookStream(id))),
    }
  }
}
