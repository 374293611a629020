import type * as t from 'io-ts'
import { nullable, withDefault } from '../../kernel/codec/containers.js'
import { boolean } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { textUpToBytes } from '../../kernel/codec/text.js'
import { id, teamName } from '../../kernel/ids.js'
import type { Webhook } from '../../domain/webhooks/decider.js'
import { disablingReason, webhookOptions } from '../../domain/webhooks/events.js'

/** Names follow the rules of ids: 1 to 256 bytes without control characters. */
export const resourceName = id

const url = textUpToBytes(2048)

export const newWebhookFields = {
  required: { name: resourceName, url },
  optional: { ...webhookOptions, enabled: withDefault(boolean, true) },
}
export const newWebhook = closed('NewWebhook', newWebhookFields)

/** Absent fields keep their values; null removes an option. */
export const webhookChange = closed('WebhookChange', {
  optional: {
    name: withDefault(resourceName, undefined),
    url: withDefault(url, undefined),
    access_token: withDefault(webhookOptions.access_token, undefined),
    secret: withDefault(webhookOptions.secret, undefined),
    retry_waits_s: withDefault(webhookOptions.retry_waits_s, undefined),
    timeout_s: withDefault(webhookOptions.timeout_s, undefined),
    stop_on_4xx: withDefault(webhookOptions.stop_on_4xx, undefined),
    enabled: withDefault(boolean, undefined),
  },
})

export const webhookJson = open('Webhook', {
  says: 'A webhook. `access_token` and `secret` are the names of secrets of its team.',
  required: { id, team: teamName, name: resourceName, url, enabled: boolean },
  optional: { ...webhookOptions, disabled_reason: nullable(disablingReason) },
})

export const shownWebhook = ({
  id,
  team,
  content,
  enabled,
  disabled,
}: Webhook): t.TypeOf<typeof webhookJson> => ({ id, team, ...content, enabled, disabled_reason: disabled })
