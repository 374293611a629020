import { createHash } from 'node:crypto'
import { yielding } from './yield-to-event-loop.js'

export const CHUNK_BYTES = 256 * 1024

/** In hexadecimal. Lets other work run in between: hashing 20 MB at once blocks the event loop for 30 ms. */
export const digestOf = async (
  content: Uint8Array,
  algorithm: 'sha256' | 'md5' = 'sha256',
): Promise<string> => {
  const hash = createHash(algorithm)
  const pause = yielding()
  for (let at = 0; at < content.length; at += CHUNK_BYTES) {
    hash.update(content.subarray(at, at + CHUNK_BYTES))
    await pause()
  }
  return hash.digest('hex')
}
