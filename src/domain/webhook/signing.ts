import * as E from 'fp-ts/lib/Either.js'
import type { HmacSha256 } from '../ports/hmac.js'
import { isBearer } from '../secret/bearer.js'

/** A version of a webhook's secret. */
export interface SigningSecret {
  readonly value: string
  readonly storedAt: Date
}

export interface MessageToSign {
  /** Stands in the names of headers: `Vendor` makes `X-Vendor-Signature`. */
  readonly vendor: string
  /** Of the delivery, the same in all its attempts. */
  readonly id: string
  /** Counts from 1. */
  readonly attempt: number
  /** The place of the event in the log, decimal digits. */
  readonly sequence: string
  readonly possibleDuplicate: boolean
  readonly now: Date
  readonly body: Uint8Array
  readonly accessToken: string | null
  /** Its versions, the newest first, of which those before are not needed; none where the webhook has no secret. */
  readonly secrets: readonly SigningSecret[]
}

/** The access token has characters that no header can carry. */
export type UnusableToken = 'unusable_token'

const DAY_MS = 86_400_000

/** Names that can stand within a header's name. */
export const VENDOR = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?$/

/**
 * All headers of a message (Standard Webhooks 1.0.0). Both signatures are of the very bytes of the
 * body. The vendor's one is hexadecimal, keyed with the newest secret as it is written; `webhook-signature` is of
 * `id.timestamp.body` and has one for each secret that is in force: the newest, and each that was replaced less than a
 * day ago.
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
            'webhook-signature': signatures.join(' '),
            [`X-${vendor}-Signature`]: hmac(utf8(newest.value), body, 'hex'),
          }),
      [`X-${vendor}-Delivery-Attempt`]: String(message.attempt),
      [`X-${vendor}-Event-Sequence`]: message.sequence,
      ...(message.possibleDuplicate ? { [`X-${vendor}-Possible-Duplicate`]: 'true' } : {}),
    })
  }

/** So many versions of a secret, the newest, are in force at most. */
export const MOST_SIGNATURES = 10

const inForce = (secrets: readonly SigningSecret[], now: Date): readonly SigningSecret[] =>
  secrets
    .filter((_, at) => at === 0 || now.getTime() - secrets[at - 1]!.storedAt.getTime() < DAY_MS)
    .slice(0, MOST_SIGNATURES)

/** What is behind `whsec_` is base64; any other secret is itself. */
const standardKey = (secret: string): Uint8Array => {
  const encoded = WHSEC.exec(secret)?.[1]
  return encoded === undefined || encoded.replace(/=+$/, '').length % 4 === 1
    ? utf8(secret)
    : Uint8Array.from(atob(encoded), (unit) => unit.charCodeAt(0))
}

const WHSEC = /^whsec_([A-Za-z0-9+/]+={0,2})$/

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

const joined = (before: Uint8Array, behind: Uint8Array): Uint8Array => {
  const whole = new Uint8Array(before.length + behind.length)
  whole.set(before)
  whole.set(behind, before.length)
  return whole
}
