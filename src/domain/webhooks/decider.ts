import { nothing, type Decider, type Decision, type Refusal } from '../../kernel/decider.js'
import type { Instant } from '../../kernel/codec/instant.js'
import { jsonEqual } from '../../kernel/json/equal.js'
import type { ChangeWebhook, CreateWebhook, WebhookCommand } from './commands.js'
import { webhookContent, type DisablingReason, type WebhookContent, type WebhookEvent } from './events.js'

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
