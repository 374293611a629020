import type { Json } from '../../../domain/json/json.js'

const MOST_BYTES = 16_384

/** What an upstream says of its refusal; undefined for what is long, or no JSON. */
export const readError = async (body: AsyncIterable<Uint8Array>): Promise<Json | undefined> => {
  const pieces: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const piece of body) {
      bytes += piece.length
      if (bytes > MOST_BYTES) return undefined
      pieces.push(piece)
    }
    return JSON.parse(Buffer.concat(pieces).toString('utf8')) as Json
  } catch {
    return undefined
  }
}
