import * as E from 'fp-ts/lib/Either.js'
import { automationContent, automationStream } from '../../domain/webhooks/automations/events.js'
import type { AttemptVerdict } from '../../domain/webhooks/deliveries/commands.js'
import type { DeliveryScheduled } from '../../domain/webhooks/deliveries/events.js'
import type { AttemptRecord } from '../../kernel/ports/attempt-records.js'
import type { EventStore } from '../../kernel/ports/event-store.js'
import type { HmacSha256 } from '../../kernel/ports/hmac.js'
import type { Sha256 } from '../../kernel/ports/sha256.js'
import type { OutgoingMessage, SendResult } from '../../kernel/ports/webhook-sender.js'
import { redacted, render } from '../../domain/webhooks/templates/render.js'
import type { Template } from '../../domain/webhooks/templates/template.js'
import { redactAnswer } from '../../domain/webhooks/redact-answer.js'
import { renderHeaders } from '../../domain/secrets/static-headers.js'
import { messageHeaders } from '../../domain/webhooks/signing.js'
import type { Endpoint } from './endpoint.js'
import type { WebhookSecrets } from './secret-values.js'
import type { TemplateOf } from './templates.js'

/** What an attempt's message is made of. `sentAt` is in milliseconds since 1970. */
export interface Outgoing {
  readonly scheduled: DeliveryScheduled
  readonly webhook: Endpoint
  readonly attempt: number
  readonly mayBeDuplicate: boolean
  readonly sentAt: number
}

/** A message, or why there is none. */
export type Prepared =
  | { readonly kind: 'unready'; readonly verdict: AttemptVerdict; readonly error: string }
  | {
      readonly kind: 'ready'
      readonly message: Omit<OutgoingMessage, 'timeoutMs'>
      /** The SHA-256 of its body. */
      readonly digest: string
      /** Its body with the names of secrets in place of their values. */
      readonly redacted: string | null
      /** The answer as it may be stored, without secrets. */
      readonly shown: (
        sent: SendResult,
      ) => Pick<AttemptRecord, 'requestHeaders' | 'responseHeaders' | 'responseBody'>
    }

interface MessageDeps {
  readonly eventStore: Pick<EventStore, 'readStream'>
  readonly templates: TemplateOf
  readonly secrets: (webhook: Endpoint) => Promise<WebhookSecrets>
  readonly hmac: HmacSha256
  readonly sha256: Sha256
  /** Part of header names: `Vendor` gives `X-Vendor-Signature`. */
  readonly vendor: string
}

/** Makes the message of each attempt from the variables of the schedule and the current secrets. */
export const messagePreparer = ({ eventStore, templates, secrets, hmac, sha256, vendor }: MessageDeps) => {
  const headersOf = messageHeaders(hmac)
  const templateOf = templatesByRevision(eventStore, templates)

  return async ({ scheduled, webhook, attempt, mayBeDuplicate, sentAt }: Outgoing): Promise<Prepared> => {
    const values = await secrets(webhook).catch(() => undefined)
    if (values === undefined)
      return { kind: 'unready', verdict: { result: 'failed', notBefore: null }, error: 'secrets:unavailable' }
    const { accessToken, secrets: versions } = values
    const template = await templateOf(scheduled)
    if (template === undefined) return dead('render_error', 'render:no_template')
    if (accessToken === undefined || versions === undefined) return dead('missing_secret', 'missing_secret')
    const rendered = render(template, scheduled.variables, (secret) =>
      secret.kind === 'access_token'
        ? (accessToken ?? undefined)
        : secret.name === webhook.content.secret
          ? versions[0]?.value
          : undefined,
    )
    if (E.isLeft(rendered))
      return rendered.left === 'missing_secret'
        ? dead('missing_secret', 'missing_secret')
        : dead('render_error', `render:${rendered.left}`)
    const body = new TextEncoder().encode(rendered.right.body)
    const headers = headersOf({
      vendor,
      id: scheduled.delivery_id,
      attempt,
      sequence: String(scheduled.sequence ?? scheduled.source.position),
      possibleDuplicate: mayBeDuplicate,
      now: new Date(sentAt),
      body,
      accessToken,
      secrets: versions,
    })
    if (E.isLeft(headers)) return dead('missing_secret', headers.left)
    const more = renderHeaders(webhook.content.headers, (name) => values.headers.get(name))
    if (E.isLeft(more)) return dead('missing_secret', more.left)
    const allHeaders = { ...more.right, ...headers.right }
    const shownBody = render(template, scheduled.variables, redacted)
    return {
      kind: 'ready',
      message: { url: webhook.content.url, headers: allHeaders, body },
      digest: sha256(body),
      redacted: E.isRight(shownBody) ? shownBody.right.body : null,
      shown: (sent) => {
        const request = redactAnswer(values.redact, { headers: allHeaders, body: new Uint8Array() })
        const response = redactAnswer(values.redact, sent)
        return {
          requestHeaders: request.headers,
          responseHeaders: response.headers,
          responseBody: response.body,
        }
      },
    }
  }
}

const dead = (reason: 'missing_secret' | 'render_error', error: string): Prepared => ({
  kind: 'unready',
  verdict: { result: 'dead', reason },
  error,
})

const MOST_REMEMBERED = 1000

/** The template of the automation's revision that scheduled a delivery. */
const templatesByRevision = (
  eventStore: Pick<EventStore, 'readStream'>,
  templates: MessageDeps['templates'],
) => {
  const known = new Map<string, Promise<Template | undefined>>()
  const read = async (automation: string, revision: number) => {
    const range = { from: BigInt(revision), limit: 1 }
    for await (const { data } of eventStore.readStream(automationStream(automation), range)) {
      const content = automationContent.decode(data)
      if (E.isRight(content)) return templates(content.right)
    }
    return undefined
  }
  return ({ automation_id, automation_revision }: DeliveryScheduled) => {
    const key = `${automation_revision}@${automation_id}`
    const found = known.get(key) ?? read(automation_id, automation_revision)
    if (!known.has(key)) {
      if (known.size >= MOST_REMEMBERED) known.clear()
      known.set(key, found)
      found.catch(() => known.delete(key))
    }
    return found
  }
}
