import type { DisablingReason, WebhookContent } from './events.js'

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
  /** The content that the change was made to, as its state counts them. */
  readonly edition: number
  readonly content: WebhookContent
  /** Null leaves it as it is. */
  readonly enabled: boolean | null
}

/** What a webhook's receiver asked for, or brought about. */
export interface DisableWebhook extends OfWebhook {
  readonly type: 'DisableWebhook'
  readonly reason: DisablingReason
  /** How many deliveries lie between this and what somebody did. */
  readonly depth: number
}

export interface DeleteWebhook extends OfWebhook {
  readonly type: 'DeleteWebhook'
}

export interface RecordTest extends OfWebhook {
  readonly type: 'RecordTest'
  /** Null where no answer came. */
  readonly status: number | null
  readonly duration_ms: number
}

export type WebhookCommand = CreateWebhook | ChangeWebhook | DisableWebhook | DeleteWebhook | RecordTest
