import type { Json } from '../../kernel/json/json.js'
import { parsed } from './parsed.js'
import { badAnswer } from './upstream-failure.js'

const MOST_BYTES = 67_108_864

/**
 * A whole JSON answer of an upstream, read up to 64 MiB.
 *
 * @throws Failure for anything else
 */
export const readWhole = async (body: AsyncIterable<Uint8Array>): Promise<Json> => {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.length
    if (bytes > MOST_BYTES) throw badAnswer(`it exceeds ${MOST_BYTES} bytes`)
    pieces.push(piece)
  }
  const value = parsed(new TextDecoder().decode(Buffer.concat(pieces)))
  if (value === undefined) throw badAnswer('it is not JSON, or is nested too deeply')
  return value
}
