import type { Json } from '../../kernel/json/json.js'
import type { MemoryLease } from '../../kernel/memory-account.js'
import { MEMORY_PER_CHARACTER } from '../answer/answer-room.js'
import { invalidUpstreamResponse, memoryUsedUp } from './upstream-failure.js'
import { parseJsonInSteps } from '../../kernel/json/parse-in-steps.js'
import type { UpstreamAnswer } from '../../domain/gateway/upstreams/upstream-client.js'
import { reportInText } from '../answer/reported-error.js'
import { decodedBody } from './decode-answer.js'

export const MAX_BYTES = 67_108_864
/** Of a whole answer that is put together from a stream. */
export const answerTooLarge = invalidUpstreamResponse(
  `it exceeds ${MAX_BYTES} characters, or the memory of the team`,
)
/** Some upstreams repeat the whole request in their errors. */
export const MAX_ERROR_BYTES = 1_048_576
const ERROR_TIMEOUT_MS = 2000

/**
 * The JSON of a response, read up to 64 MiB.
 *
 * @throws Failure for anything else
 */
export const readJson = async (answer: UpstreamAnswer, memory: MemoryLease): Promise<Json> => {
  const text = await textUpTo(decodedBody(answer), MAX_BYTES, memory)
  const value = text === undefined ? undefined : await parsed(text)
  if (value === undefined) throw invalidUpstreamResponse(NOT_JSON)
  return value
}

export const NOT_JSON = 'it is not JSON, is nested too deeply, or has too many values'

/**
 * The report of an error: JSON, or text as {@link reportInText}; undefined for what cannot be quoted, and for more than 1
 * MiB. Reads for a short time only, because the next target may be tried after it.
 */
export const readError = async (answer: UpstreamAnswer): Promise<Json | undefined> => {
  let reading: AsyncIterator<Uint8Array> | undefined
  let timer: NodeJS.Timeout | undefined
  try {
    const body = (reading = decodedBody(answer)[Symbol.asyncIterator]())
    timer = setTimeout(() => void body.return?.(), ERROR_TIMEOUT_MS)
    const text = await textUpTo({ [Symbol.asyncIterator]: () => body }, MAX_ERROR_BYTES)
    return text === undefined ? undefined : ((await parsed(text)) ?? reportInText(text))
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
    await (reading ?? answer.body[Symbol.asyncIterator]()).return?.()
  }
}

const textUpTo = async (
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  memory?: MemoryLease,
): Promise<string | undefined> => {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.length
    if (memory?.grow(piece.length * MEMORY_PER_CHARACTER) === false) throw memoryUsedUp
    if (bytes > maxBytes) return undefined
    pieces.push(piece)
  }
  return new TextDecoder().decode(Buffer.concat(pieces))
}

/** Undefined for text that is not JSON, or is nested deeper or has more values than a request may. */
export const parsed = async (text: string): Promise<Json | undefined> => {
  try {
    const { value, isTooDeep } = await parseJsonInSteps(text, { isWellFormed: false })
    return isTooDeep ? undefined : value
  } catch {
    return undefined
  }
}
