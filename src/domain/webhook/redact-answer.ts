import type { Sent } from '../ports/webhook-sender.js'
import type { Redact } from '../secret/redact-secrets.js'

/** What of an answer is shown to the team: its headers and its body as text, without secrets. */
export const redactAnswer = (
  redact: Redact,
  { headers, body }: Pick<Sent, 'headers' | 'body'>,
): { readonly headers: Readonly<Record<string, string>>; readonly body: string } => ({
  headers: Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [redact(name), redact(value)] as const),
  ),
  body: redact(new TextDecoder().decode(body)),
})
