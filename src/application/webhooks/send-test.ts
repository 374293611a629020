import * as E from 'fp-ts/lib/Either.js'
import { failureText } from '../../domain/webhooks/deliveries/classify.js'
import type { Clock, Ids } from '../../kernel/ports/clock.js'
import type { HmacSha256 } from '../../kernel/ports/hmac.js'
import type { WebhookSender } from '../../kernel/ports/webhook-sender.js'
import { redactSecrets, secretMatcher } from '../../domain/secrets/redact-secrets.js'
import { redactAnswer } from '../../domain/webhooks/redact-answer.js'
import { messageHeaders, type SigningSecret } from '../../domain/webhooks/signing.js'

export interface TestPorts {
  readonly webhookSender: WebhookSender
  readonly hmacSha256: HmacSha256
  readonly clock: Clock
  readonly ids: Ids
  readonly vendor: string
}

export interface TestedWebhook {
  readonly url: string
  /** Seconds; null for the default. */
  readonly timeout_s: number | null
  /** All versions, newest first; empty if the webhook names no secret. */
  readonly accessTokens: readonly SigningSecret[]
  readonly secrets: readonly SigningSecret[]
}

export interface TestResponse {
  /** The message id that the receiver sees; begins with `test_`. */
  readonly id: string
  readonly status: number | null
  readonly headers: Readonly<Record<string, string>>
  /** The first 16 KiB; invalid UTF-8 is replaced. */
  readonly body: string
  /** Why there was no response, in the terms of deliveries. */
  readonly error: string | null
  readonly durationMs: number
}

const USUAL_TIMEOUT_S = 20

/**
 * Sends a rendered payload once, in the same way as deliveries, and returns the endpoint's response with secrets
 * redacted. Stores nothing.
 */
export const sendTest =
  ({ webhookSender, hmacSha256, clock, ids, vendor }: TestPorts) =>
  async (webhook: TestedWebhook, body: Uint8Array, signal?: AbortSignal): Promise<TestResponse> => {
    const id = `test_${ids.next()}`
    const headers = messageHeaders(hmacSha256)({
      vendor,
      id,
      attempt: 1,
      sequence: '0',
      possibleDuplicate: false,
      now: clock.now(),
      body,
      accessToken: webhook.accessTokens[0]?.value ?? null,
      secrets: webhook.secrets,
    })
    if (E.isLeft(headers))
      return { id, status: null, headers: {}, body: '', error: headers.left, durationMs: 0 }
    const timeoutMs = (webhook.timeout_s ?? USUAL_TIMEOUT_S) * 1000
    const sent = await webhookSender.send(
      { url: webhook.url, headers: headers.right, body, timeoutMs },
      signal,
    )
    const values = [...webhook.accessTokens, ...webhook.secrets].map(({ value }) => value)
    const answer = redactAnswer(redactSecrets([secretMatcher(values)]), sent)
    return {
      id,
      status: sent.status,
      headers: answer.headers,
      body: answer.body,
      error: sent.error === null ? null : failureText(sent.error),
      durationMs: sent.phases.total,
    }
  }
