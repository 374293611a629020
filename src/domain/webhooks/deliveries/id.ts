import type { Sha256 } from '../../../kernel/ports/sha256.js'

/** What identifies a delivery: its event, and the automation or user action that requested it. */
export interface DeliveryIdentity {
  readonly eventId: string
  readonly automationId: string
  readonly action: number
  /** Set when a user re-sends past events. */
  readonly replayId?: string
}

/** `dlv_` and the base32 SHA-256 of the identity, so that scheduling is idempotent across processes. */
export const deliveryIdOf = (
  sha256: Sha256,
  { eventId, automationId, action, replayId = '' }: DeliveryIdentity,
): string =>
  // Ids have no control characters, so joining them is unambiguous.
  `dlv_${base32(sha256([eventId, automationId, action, replayId].join('\n')))}`

const ALPHABET = Array.from('abcdefghijklmnopqrstuvwxyz234567')
/** Encodes ten bits at a time: one event may schedule hundreds of deliveries without yielding. */
const PAIRS = ALPHABET.flatMap((first) => ALPHABET.map((second) => first + second))

/** From hexadecimal; five bits a letter, padded with zero bits. */
const base32 = (hex: string): string => {
  let text = ''
  // Five hexadecimal digits are two pairs of letters.
  for (let at = 0; at < hex.length; at += 5) {
    const bits = Number.parseInt(hex.slice(at, at + 5).padEnd(5, '0'), 16)
    text += PAIRS[bits >> 10]! + PAIRS[bits & 1023]!
  }
  return text.slice(0, Math.ceil((hex.length * 4) / 5))
}
