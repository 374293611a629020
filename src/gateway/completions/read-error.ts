import type { Json } from '../../kernel/json/json.js'
import { parsed } from './parsed.js'

/** Some upstreams repeat the whole request in their errors. */
const MOST_ERROR_BYTES = 1_048_576
const WITHIN_MS = 2000

/**
 * The body of an upstream's error: JSON or, as a string, plain text; undefined for HTML, and for more than 1 MiB. The
 * time is short, since another upstream may be tried next.
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
    if (next.done === true) return bodyIn(new TextDecoder().decode(Buffer.concat(pieces)))
    bytes += next.value.length
    if (bytes > MOST_ERROR_BYTES) return undefined
    pieces.push(next.value)
  }
}

const bodyIn = (text: string): Json | undefined =>
  parsed(text) ?? (text.trimStart().startsWith('<') ? undefined : text)
