import type { Schemas } from '../kit/api.js'

/** The fields of the form as they are typed. */
export interface WebhookDraft {
  readonly name: string
  readonly url: string
  readonly access_token: string
  readonly secret: string
  readonly timeout_s: string
  readonly max_per_minute: string
  readonly retry_waits_s: string
  readonly stop_on_4xx: boolean
  readonly enabled: boolean
  readonly headers: readonly (readonly [name: string, value: string])[]
}

export const EMPTY_WEBHOOK: WebhookDraft = {
  name: '',
  url: '',
  access_token: '',
  secret: '',
  timeout_s: '',
  max_per_minute: '',
  retry_waits_s: '',
  stop_on_4xx: false,
  enabled: true,
  headers: [],
}

export const draftOfWebhook = (webhook: Schemas['Webhook']): WebhookDraft => ({
  name: webhook.name,
  url: webhook.url ?? '',
  access_token: webhook.access_token ?? '',
  secret: webhook.secret ?? '',
  timeout_s: String(webhook.timeout_s ?? ''),
  max_per_minute: String(webhook.max_per_minute ?? ''),
  retry_waits_s: (webhook.retry_waits_s ?? []).join(', '),
  stop_on_4xx: webhook.stop_on_4xx ?? false,
  enabled: webhook.enabled,
  headers: Object.entries(webhook.headers ?? {}),
})

/** A number, null if nothing is typed, and the text itself if it is no number, which the service refuses. */
const numberIn = (text: string): number | null =>
  text.trim() === '' ? null : Number.isNaN(Number(text)) ? (text as unknown as number) : Number(text)

/** The body of requests that create, change or test the webhook. */
export const bodyOfWebhook = (draft: WebhookDraft): Schemas['NewWebhook'] => {
  const waits = draft.retry_waits_s.split(/[\s,]+/).filter((wait) => wait !== '')
  const headers = draft.headers.filter(([name, value]) => name !== '' || value !== '')
  return {
    name: draft.name.trim(),
    url: draft.url.trim(),
    access_token: draft.access_token || null,
    secret: draft.secret || null,
    timeout_s: numberIn(draft.timeout_s),
    max_per_minute: numberIn(draft.max_per_minute),
    retry_waits_s: waits.length === 0 ? null : waits.map((wait) => numberIn(wait)!),
    stop_on_4xx: draft.stop_on_4xx,
    headers: headers.length === 0 ? null : Object.fromEntries(headers),
    enabled: draft.enabled,
  }
}
