import * as E from 'fp-ts/lib/Either.js'
import { redactSecrets, secretMatcher } from '../../domain/secrets/redact-secrets.js'
import { failureText } from '../../domain/webhooks/deliveries/classify.js'
import { hintOfError, hintOfStatus, hintOfUnsent } from '../../domain/webhooks/hints.js'
import { redactAnswer } from '../../domain/webhooks/redact-answer.js'
import type { WebhookContent } from '../../domain/webhooks/webhook.js'
import { withoutSentCredentials } from '../../domain/secrets/credentials.js'
import { renderHeaders } from '../../domain/secrets/static-headers.js'
import { messageHeaders, type SigningSecret } from '../../domain/webhooks/signing.js'
import { redacted, render } from '../../domain/webhooks/templates/render.js'
import type { Template } from '../../domain/webhooks/templates/template.js'
import type { Clock, Ids } from '../../kernel/ports/clock.js'
import type { HmacSha256 } from '../../kernel/ports/hmac.js'
import type { AddressRule, Phases, WebhookSender } from '../../kernel/ports/webhook-sender.js'

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
  /** All versions, newest first; null if the webhook names no secret. */
  readonly accessTokens: readonly SigningSecret[] | null
  readonly secrets: readonly SigningSecret[] | null
  readonly headers: WebhookContent['headers']
  /** The versions of the secrets that the headers name, newest first. */
  readonly headerSecrets: ReadonlyMap<string, readonly SigningSecret[]>
}

/** Secrets are redacted everywhere. */
export interface TestResult {
  /** The message id that the receiver sees; begins with `test_`. */
  readonly id: string
  /** What was sent; null if no message could be made. */
  readonly request: {
    readonly method: 'POST'
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  } | null
  readonly status: number | null
  readonly headers: Readonly<Record<string, string>>
  /** The first 16 KiB; invalid UTF-8 is replaced. */
  readonly body: string
  /** Why there was no response, in the terms of deliveries. */
  readonly error: string | null
  /** Why the address is not allowed. */
  readonly address_rule: AddressRule | null
  /** What to change after a failure. */
  readonly hint: string | null
  readonly duration_ms: number
  /** Milliseconds. */
  readonly phases: Phases
  /** The address of the receiver. */
  readonly peer: string | null
}

const DEFAULT_TIMEOUT_S = 20

const NO_PHASES: Phases = { dns: null, connect: null, tls: null, first_byte: null, total: 0 }

/**
 * Sends a template once, in the same way as deliveries, and returns the message and the endpoint's response. Stores
 * nothing.
 */
export const sendTest =
  ({ webhookSender, hmacSha256, clock, ids, vendor }: TestPorts) =>
  async (webhook: TestedWebhook, template: Template, signal?: AbortSignal): Promise<TestResult> => {
    const id = `test_${ids.next()}`
    const { accessTokens, secrets } = webhook
    const unsent = (error: string): TestResult => ({
      id,
      request: null,
      status: null,
      headers: {},
      body: '',
      error,
      address_rule: null,
      hint: hintOfUnsent(error),
      duration_ms: 0,
      phases: NO_PHASES,
      peer: null,
    })
    if (accessTokens?.length === 0 || secrets?.length === 0) return unsent('missing_secret')
    const token = accessTokens?.[0]?.value
    const rendered = render(template, {}, ({ kind }) =>
      kind === 'access_token' ? token : secrets?.[0]?.value,
    )
    if (E.isLeft(rendered)) return unsent(rendered.left)
    const body = new TextEncoder().encode(rendered.right.body)
    const headers = messageHeaders(hmacSha256)({
      vendor,
      id,
      attempt: 1,
      sequence: '0',
      possibleDuplicate: false,
      now: clock.now(),
      body,
      accessToken: token ?? null,
      secrets: secrets ?? [],
    })
    if (E.isLeft(headers)) return unsent(headers.left)
    const more = renderHeaders(webhook.headers, (name) => webhook.headerSecrets.get(name)?.[0]?.value)
    if (E.isLeft(more)) return unsent(more.left)
    const allHeaders = { ...more.right, ...headers.right }
    const timeoutMs = (webhook.timeout_s ?? DEFAULT_TIMEOUT_S) * 1000
    const message = { url: webhook.url, headers: allHeaders, body, timeoutMs }
    const { status, error, phases, peer, ...sent } = await webhookSender.send(message, signal)
    const named = [accessTokens ?? [], secrets ?? [], ...webhook.headerSecrets.values()]
    const values = named.flat().map(({ value }) => value)
    const redact = redactSecrets([secretMatcher(values)])
    const shownBody = render(template, {}, redacted)
    const { headers: shownHeaders } = redactAnswer(redact, { headers: allHeaders, body })
    return {
      id,
      request: {
        method: 'POST',
        url: redact(webhook.url),
        headers: withoutSentCredentials(shownHeaders),
        body: E.isRight(shownBody) ? shownBody.right.body : '',
      },
      status,
      ...redactAnswer(redact, sent),
      error: error === null ? null : failureText(error),
      address_rule: error !== null && 'rule' in error ? error.rule : null,
      hint: error === null ? (status === null ? null : hintOfStatus(status)) : hintOfError(error),
      duration_ms: phases.total,
      phases,
      peer,
    }
  }
