import type { SendResult } from '../../kernel/ports/webhook-sender.js'
import type { Redact } from '../secrets/redact-secrets.js'

/** The response as shown to the team: headers and body as text, with secrets redacted. */
export const redactAnswer = (
  redact: Redact,
  { headers, body }: Pick<SendResult, 'headers' | 'body'>,
): { readonly headers: Readonly<Record<string, string>>; readonly body: string } => ({
  headers: Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [redact(name), redact(value)] as const),
  ),
  body: redact(new TextDecoder().decode(body)),
})
