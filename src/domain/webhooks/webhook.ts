import type * as t from 'io-ts'
import { arrayOf, nullable, recordOf } from '../../kernel/codec/containers.js'
import { instant, type Instant } from '../../kernel/codec/instant.js'
import { boolean, int64, integerBetween, number, oneOf } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { textUpToBytes } from '../../kernel/codec/text.js'
import { type EventOf, nothing, type Decider, type Decision, type Refusal } from '../../kernel/decider.js'
import { id, teamName } from '../../kernel/ids.js'
import { jsonEqual } from '../../kernel/json/equal.js'
import { secretName } from '../secrets/secret.js'

const webhookName = textUpToBytes(256)

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

interface OfWebhook {
  readonly id: string
  readonly team: string
}

export interface CreateWebhook extends OfWebhook {
  readonly type: 'CreateWebhook'
  readonly content: WebhookContent
  readonly enabled: boolean
}

export interface ChangeWebhook extends OfWebhook {
  readonly type: 'ChangeWebhook'
  /** The `edition` of the content that the client changed; a conflict if it is no longer current. */
  readonly edition: number
  readonly content: WebhookContent
  /** Null leaves it unchanged. */
  readonly enabled: boolean | null
}

/** Disables a webhook at its receiver's request, or because of its failures. */
export interface DisableWebhook extends OfWebhook {
  readonly type: 'DisableWebhook'
  readonly reason: DisablingReason
  /** Number of deliveries between the original event and this. */
  readonly depth: number
}

/** Reports a receiver that has failed for hours, once for each of `FAILING_HOURS`. */
export interface ReportFailing extends OfWebhook {
  readonly type: 'ReportFailing'
  readonly failingSince: Instant
  readonly hours: number
  readonly depth: number
}

/** Makes all waiting messages due. */
export interface ReleaseWebhook extends OfWebhook {
  readonly type: 'ReleaseWebhook'
}

export interface DeleteWebhook extends OfWebhook {
  readonly type: 'DeleteWebhook'
}

export interface RecordTest extends OfWebhook {
  readonly type: 'RecordTest'
  /** Null without a response. */
  readonly status: number | null
  readonly duration_ms: number
}

export type WebhookCommand =
  CreateWebhook | ChangeWebhook | DisableWebhook | ReportFailing | ReleaseWebhook | DeleteWebhook | RecordTest

export interface Webhook {
  readonly id: string
  readonly team: string
  readonly content: WebhookContent
  readonly enabled: boolean
  /** Null while it is enabled, and if it was created disabled. */
  readonly disabled: DisablingReason | null
  readonly deleted: boolean
  /** The last report of failing for hours. */
  readonly failing: { readonly since: Instant; readonly hours: number } | null
  /** Number of content changes. */
  readonly edition: number
  /** The content at creation, to recognise a repeated creation. */
  readonly first: { readonly content: WebhookContent; readonly enabled: boolean }
}

export type WebhookState = Webhook | null

const evolve = (state: WebhookState, { type, data }: WebhookEvent): WebhookState => {
  if (type === 'WebhookCreated') {
    const { id, team, enabled } = data
    const content = contentOf(data)
    return {
      id,
      team,
      content,
      enabled,
      disabled: null,
      deleted: false,
      failing: null,
      edition: 0,
      first: { content, enabled },
    }
  }
  if (state === null) return null
  switch (type) {
    case 'WebhookChanged':
      return { ...state, content: contentOf(data), edition: state.edition + 1 }
    case 'WebhookEnabled':
      return { ...state, enabled: true, disabled: null }
    case 'WebhookDisabled':
      return { ...state, enabled: false, disabled: data.reason }
    case 'WebhookFailing':
      return { ...state, failing: { since: data.failing_since, hours: data.hours } }
    case 'WebhookDeleted':
      return { ...state, deleted: true }
    default:
      // `WebhookTested` changes nothing, and a newer release may have written an unknown event type.
      return state
  }
}

/** Fields that older events lack become null. */
const contentOf = (data: WebhookContent): WebhookContent => {
  const decoded = webhookContent.decode(data)
  return decoded._tag === 'Right' ? decoded.right : data
}

const decide = (state: WebhookState, command: WebhookCommand): Decision<WebhookEvent> => {
  if (command.type === 'CreateWebhook') return create(state, command)
  if (state?.deleted === true && command.type === 'DeleteWebhook') return nothing
  if (state === null || state.deleted) return { events: [], refused: noSuchWebhook }
  const { id, team } = state
  switch (command.type) {
    case 'ChangeWebhook':
      return change(state, command)
    case 'DisableWebhook': {
      const { reason, depth } = command
      if (!state.enabled) return nothing
      return { events: [{ type: 'WebhookDisabled', data: { id, team, reason, depth } }] }
    }
    case 'ReportFailing': {
      const { failingSince: since, hours, depth } = command
      const isKnown = state.failing?.since === since && state.failing.hours >= hours
      if (!state.enabled || isKnown) return nothing
      return { events: [{ type: 'WebhookFailing', data: { id, team, failing_since: since, hours, depth } }] }
    }
    case 'ReleaseWebhook':
      if (!state.enabled) return { events: [], refused: isDisabled }
      return { events: [{ type: 'WebhookReleased', data: { id, team } }] }
    case 'DeleteWebhook':
      return { events: [{ type: 'WebhookDeleted', data: { id, team } }] }
    case 'RecordTest': {
      const { status, duration_ms } = command
      return { events: [{ type: 'TestSent', data: { id, team, status, duration_ms } }] }
    }
    default:
      return command satisfies never
  }
}

const create = (
  state: WebhookState,
  { id, team, content, enabled }: CreateWebhook,
): Decision<WebhookEvent> => {
  if (state === null) return { events: [{ type: 'WebhookCreated', data: { id, team, ...content, enabled } }] }
  const { first, deleted } = state
  if (!deleted && first.enabled === enabled && jsonEqual(first.content, content)) return nothing
  return { events: [], refused: usedBefore }
}

const change = (state: Webhook, { edition, content, enabled }: ChangeWebhook): Decision<WebhookEvent> => {
  const { id, team } = state
  const events: WebhookEvent[] = []
  if (!jsonEqual(state.content, content)) {
    if (edition !== state.edition) return { events: [], refused: changedMeanwhile }
    events.push({ type: 'WebhookChanged', data: { id, team, ...content } })
  }
  if (enabled === true && !state.enabled) events.push({ type: 'WebhookEnabled', data: { id, team } })
  if (enabled === false && state.enabled)
    events.push({ type: 'WebhookDisabled', data: { id, team, reason: 'by_hand', depth: 0 } })
  return { events }
}

export const noSuchWebhook: Refusal = {
  kind: 'not-found',
  reason: 'Webhook not found, or the API key has no access to its team.',
}

const usedBefore: Refusal = {
  kind: 'conflict',
  reason: 'The Idempotency-Key was already used for another webhook. Use a new key.',
}

const isDisabled: Refusal = {
  kind: 'conflict',
  reason: 'The webhook is disabled. Enable it instead: that sends its held messages too.',
}

const changedMeanwhile: Refusal = {
  kind: 'conflict',
  reason: 'The webhook was changed by another request. Try again.',
}

export const webhookDecider: Decider<WebhookState, WebhookCommand, WebhookEvent> = {
  initialState: () => null,
  evolve,
  decide,
}
