import type { Sha256 } from './ports/sha256.js'

/**
 * The digest by which clients know objects and files: SHA-256 in base64url with `-` as X, `_` as Y and no padding, 43
 * letters and digits (facts: tracing API 6.2). The npm SDK computes the same for files.
 */
export const weaveDigest = (hex: ReturnType<Sha256>): string => {
  const bytes = hex.match(/../g)!.map((pair) => String.fromCharCode(Number.parseInt(pair, 16)))
  return btoa(bytes.join('')).replaceAll('+', 'X').replaceAll('/', 'Y').replaceAll('=', '')
}
