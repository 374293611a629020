import type { Sha256 } from '../../kernel/ports/sha256.js'

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789XY'

/**
 * The digest that clients use for objects, rows and files: SHA-256 in unpadded base64url with `-` as X and `_` as Y,
 * 43 letters and digits. The npm SDK computes the same for files.
 */
export const weaveDigest = (hex: ReturnType<Sha256>): string => {
  let digest = ''
  for (let at = 0; at < hex.length; at += 6) {
    const three = Number.parseInt(hex.slice(at, at + 6).padEnd(6, '0'), 16)
    digest +=
      LETTERS[three >> 18]! +
      LETTERS[(three >> 12) & 63]! +
      LETTERS[(three >> 6) & 63]! +
      LETTERS[three & 63]!
  }
  return digest.slice(0, Math.ceil((hex.length * 2) / 3))
}
