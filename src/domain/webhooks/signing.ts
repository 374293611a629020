import * as E from 'fp-ts/lib/Either.js'
import type { HmacSha256 } from '../../kernel/ports/hmac.js'
import { isBearer } from '../secrets/bearer.js'

/** A version of a webhook's secret. */
export interface SigningSecret {
  readonly value: string
  readonly storedAt: Date
}

export interface MessageToSign {
  /** Part of header names: `Vendor` gives `X-Vendor-Signature`. */
  readonly vendor: string
  /** The delivery's id, the same for all attempts. */
  readonly id: string
  /** Counts from 1. */
  readonly attempt: number
  /** The number of the delivery in its team, in decimal digits. */
  readonly sequence: string
  readonly possibleDuplicate: boolean
  readonly now: Date
  readonly body: Uint8Array
  readonly accessToken: string | null
  /** The secret's versions, newest first; empty for a webhook without a secret. */
  readonly secrets: readonly SigningSecret[]
}

/** The access token has characters that are invalid in a header. */
export type UnusableToken = 'unusable_token'

const DAY_MS = 86_400_000

/** Valid as part of a header name. */
export const VENDOR = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?$/

/**
 * All headers of a message (Standard Webhooks 1.0.0). Both signatures cover the exact bytes of the body. The vendor's
 * is hexadecimal, keyed with the newest secret as text. `webhook-signature` covers `id.timestamp.body`, with one
 * signature for the newest secret and for each that was replaced less than a day ago.
 */
export const messageHeaders =
  (hmac: HmacSha256) =>
  (message: MessageToSign): E.Either<UnusableToken, Readonly<Record<string, string>>> => {
    const { vendor, id, body, accessToken, secrets } = message
    if (accessToken !== null && !isBearer(accessToken)) return E.left('unusable_token')
    const timestamp = Math.floor(message.now.getTime() / 1000)
    const signed = joined(utf8(`${id}.${timestamp}.`), body)
    const signatures = inForce(secrets, message.now).map(
      ({ value }) => `v1,${hmac(standardKey(value), signed, 'base64')}`,
    )
    const [newest] = secrets
    return E.right({
      'Content-Type': 'application/json',
      ...(accessToken === null ? {} : { Authorization: `Bearer ${accessToken}` }),
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      ...(newest === undefined
        ? {}
        : {
            // A value that was stored twice signs once.
            'webhook-signature': [...new Set(signatures)].join(' '),
            [`X-${vendor}-Signature`]: hmac(utf8(newest.value), body, 'hex'),
          }),
      [`X-${vendor}-Delivery-Attempt`]: String(message.attempt),
      [`X-${vendor}-Event-Sequence`]: message.sequence,
      ...(message.possibleDuplicate ? { [`X-${vendor}-Possible-Duplicate`]: 'true' } : {}),
    })
  }

/** Separates the keys of scorers from those of webhooks. */
const SCORER_LABEL = 'tallytree http-scorer v1'

/**
 * The secret that signs the messages to scorers: 32 bytes of HKDF-SHA256 of a team's secret, without a salt, so that no
 * message to a scorer verifies as one to a webhook.
 */
export const scorerSecret = (hmac: HmacSha256, { value, storedAt }: SigningSecret): SigningSecret => {
  const extracted = fromBase64(hmac(new Uint8Array(32), standardKey(value), 'base64'))
  return { value: `whsec_${hmac(extracted, utf8(`${SCORER_LABEL}\x01`), 'base64')}`, storedAt }
}

/** Maximum number of secret versions that sign. */
export const MOST_SIGNATURES = 10

const inForce = (secrets: readonly SigningSecret[], now: Date): readonly SigningSecret[] =>
  secrets
    .filter((_, at) => at === 0 || now.getTime() - secrets[at - 1]!.storedAt.getTime() < DAY_MS)
    .slice(0, MOST_SIGNATURES)

/** The part after `whsec_` is base64; any other secret is used as text. */
const standardKey = (secret: string): Uint8Array => {
  const encoded = WHSEC.exec(secret)?.[1]
  return encoded === undefined || encoded.length % 4 === 1 ? utf8(secret) : fromBase64(encoded)
}

const fromBase64 = (text: string): Uint8Array => Uint8Array.from(atob(text), (unit) => unit.charCodeAt(0))

const WHSEC = /^whsec_([A-Za-z0-9+/]+)={0,2}$/

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

const joined = (before: Uint8Array, behind: Uint8Array): Uint8Array => {
  const whole = new Uint8Array(before.length + behind.length)
  whole.set(before)
  whole.set(behind, before.length)
  return whole
}
