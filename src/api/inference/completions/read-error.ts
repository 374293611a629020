import type { Json } from '../../../domain/json/json.js'

const MOST_BYTES = 16_384
const WITHIN_MS = 2000

/**
 * What an upstream says of its refusal; undefined for what is long, or no JSON. Others may still be asked, so that it is not
 * waited for for long.
 */
export const readError = async (body: AsyncIterable<Uint8Array>): Promise<Json | undefined> => {
  const reading = body[Symbol.asyncIterator]()
  const timer = setTimeout(() => void reading.return?.(), WITHIN_MS)
  try {
    return await read(reading)
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
    await reading.return?.()
  }
}

const read = async (reading: AsyncIterator<Uint8Array>): Promise<Json | undefined> => {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for (;;) {
    const next = await reading.next()
    if (next.done === true) return JSON.parse(new TextDecoder().decode(Buffer.concat(pieces))) as Json
    bytes += next.value.length
    if (bytes > MOST_BYTES) return undefined
    pieces.push(next.value)
  }
}
