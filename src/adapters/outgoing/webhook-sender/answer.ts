import type { IncomingHttpHeaders } from 'node:http'

/** Bytes of an answer's body that are kept, and after how many nothing more is read. */
const KEPT_BYTES = 16_384
const READ_BYTES = 65_536

/** Bytes of an answer's head. */
export const HEAD_BYTES = 16_384

/** The beginning of a body, however long it is. */
export class Excerpt {
  private readonly chunks: Buffer[] = []
  private read = 0

  /** Whether there is any use in reading on. */
  add(chunk: Buffer): boolean {
    if (this.read < KEPT_BYTES) this.chunks.push(chunk)
    this.read += chunk.length
    return this.read < READ_BYTES
  }

  /** A copy: what it was read into is let go. */
  bytes(): Uint8Array {
    return Uint8Array.from(Buffer.concat(this.chunks).subarray(0, KEPT_BYTES))
  }
}

export const flatHeaders = (headers: IncomingHttpHeaders): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value = '']) => [
      name,
      typeof value === 'string' ? value : value.join(', '),
    ]),
  )
