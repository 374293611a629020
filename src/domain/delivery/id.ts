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

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'

/** Of hexadecimal digits; five bits a letter, the last filled up with zeros. */
const base32 = (hex: string): string => {
  let text = ''
  let bits = 0
  let held = 0
  for (const digit of hex) {
    held = (held << 4) | Number.parseInt(digit, 16)
    bits += 4
    if (bits < 5) continue
    bits -= 5
    text += ALPHABET[held >> bits]!
    held &= (1 << bits) - 1
  }
  return bits === 0 ? text : text + ALPHABET[held << (5 - bits)]!
}
