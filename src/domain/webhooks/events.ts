import type * as t from 'io-ts'
import { arrayOf, nullable, recordOf } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { boolean, int64, integerBetween, number, oneOf } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { textLike, textUpToBytes } from '../../kernel/codec/text.js'
import type { EventOf } from '../../kernel/decider.js'
import { id, teamName } from '../../kernel/ids.js'

const webhookName = textUpToBytes(256)

/** The name of a team's stored secret, written after `$` in templates. */
export const secretName = textLike(
  'secret',
  /^[A-Za-z_][A-Za-z0-9_]{0,127}$/,
  'String should have 1 to 128 letters, digits or underscores, and not start with a digit',
)

export const MOST_RETRIES = 32

/** Fields that an owner may change. Delays are in seconds, one per retry; null for the default. */
export const webhookOptions = {
  access_token: nullable(secretName),
  secret: nullable(secretName),
  retry_waits_s: nullable(arrayOf(number)),
  timeout_s: nullable(integerBetween(1, 30)),
  stop_on_4xx: nullable(boolean),
  /** Further headers of each message, by name. `$NAME` is a secret of the team. */
  headers: nullable(recordOf(textUpToBytes(4096))),
  /** Attempts, by each process that sends. */
  max_per_minute: nullable(integerBetween(1, 6000)),
}

const content = { required: { name: webhookName, url: textUpToBytes(2048) }, optional: webhookOptions }

export const webhookContent = open('WebhookContent', content)
export type WebhookContent = t.TypeOf<typeof webhookContent>

const required = { id, team: teamName }

const webhookCreated = open('WebhookCreated', {
  says: 'A webhook was created: a URL that receives messages. It contains names of secrets, never their values.',
  required: { ...required, ...content.required, enabled: boolean },
  optional: content.optional,
})

const webhookChanged = open('WebhookChanged', {
  says: 'A webhook was updated. The new content replaces the old.',
  required: { ...required, ...content.required },
  optional: content.optional,
})

const webhookEnabled = open('WebhookEnabled', {
  says: 'A webhook was enabled. Held messages are sent too.',
  required,
})

/** By hand, or because of the receiver's responses or failures. */
export const disablingReason = oneOf('by_hand', 'gone', 'receiver_asked', 'failing_for_days')
export type DisablingReason = t.TypeOf<typeof disablingReason>

const webhookDisabled = open('WebhookDisabled', {
  says: 'A webhook was disabled. Its messages are held.',
  required: { ...required, reason: disablingReason, depth: int64 },
})

/** Hours of failing after which it is reported. */
export const FAILING_HOURS = [1, 24] as const

const webhookFailing = open('WebhookFailing', {
  says: 'All attempts at a webhook have failed for so many hours, because of its receiver.',
  required: { ...required, failing_since: instant, hours: int64, depth: int64 },
})

const webhookReleased = open('WebhookReleased', {
  says: 'A user released a webhook: its waiting messages are due at once, whatever its receiver answered or asked before.',
  required,
})

const webhookDeleted = open('WebhookDeleted', { says: 'A webhook was deleted permanently.', required })

const testSent = open('TestSent', {
  says: 'A user tested a webhook. Neither the message nor the response is stored.',
  required: { ...required, duration_ms: number },
  optional: { status: nullable(int64) },
})

export const webhookEvents = {
  WebhookCreated: webhookCreated,
  WebhookChanged: webhookChanged,
  WebhookEnabled: webhookEnabled,
  WebhookDisabled: webhookDisabled,
  WebhookFailing: webhookFailing,
  WebhookReleased: webhookReleased,
  WebhookDeleted: webhookDeleted,
  TestSent: testSent,
}

export type WebhookEvent = EventOf<typeof webhookEvents>

export const webhookStream = (id: string): string => `webhook-${id}`
