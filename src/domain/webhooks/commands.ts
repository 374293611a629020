import type { Instant } from '../../kernel/codec/instant.js'
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
