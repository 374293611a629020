import type { Sha256 } from '../ports/sha256.js'

/** What makes a delivery the same one: the event it tells of, and what asked for it. */
export interface DeliveryIdentity {
  readonly eventId: string
  readonly automationId: string
  readonly action: number
  /** Set where somebody had history sent again on purpose. */
  readonly replayId?: string
}

/** `dlv_` and the SHA-256 of its identity in base32: who schedules it again, anywhere, comes to the same stream. */
export const deliveryIdOf = (
  sha256: Sha256,
  { eventId, automationId, action, replayId = '' }: DeliveryIdentity,
): string =>
  // No id has control characters, so that no two identities are one text.
  `dlv_${base32(sha256([eventId, automationId, action, replayId].join('\n')))}`

const ALPHABET = Array.from('abcdefghijklmnopqrstuvwxyz234567')
/** By ten bits: an event that makes hundreds of automations fire needs as many ids before anybody else has a turn. */
const PAIRS = ALPHABET.flatMap((first) => ALPHABET.map((second) => first + second))

/** Of hexadecimal digits; five bits a letter, the last filled up with zeros. */
const base32 = (hex: string): string => {
  let text = ''
  // Five digits are two pairs of letters.
  for (let at = 0; at < hex.length; at += 5) {
    const bits = Number.parseInt(hex.slice(at, at + 5).padEnd(5, '0'), 16)
    text += PAIRS[bits >> 10]! + PAIRS[bits & 1023]!
  }
  return text.slice(0, Math.ceil((hex.length * 4) / 5))
}
