import type { IncomingMessage } from 'node:http'
import { Transform, type Readable } from 'node:stream'
import getRawBody from 'raw-body'
import { decompressor } from '../../kernel/decompressor.js'
import type { MemoryLease } from '../../kernel/memory-account.js'
import {
  MOST_MEMBERS,
  MOST_VALUES,
  parseJsonInSteps,
  TooManyValues,
  type ParsedJson,
} from '../../kernel/json/parse-in-steps.js'
import type { Json } from '../../kernel/json/json.js'
import { MOST_WIDE_NUMBERS, TooManyWideNumbers } from '../../kernel/json/parse.js'
import { Failure, invalid } from '../../application/failure.js'

/** In bytes, after decompression. */
export const MAX_BODY_BYTES = 33_554_432

/** Memory for a byte of a body: the bytes, their text, and the values that are parsed from it. */
export const MEMORY_PER_BYTE = 8

/**
 * Reads a request's JSON body, once there is memory for it. Invalid UTF-8 becomes U+FFFD and a byte order mark is removed.
 *
 * @throws MemoryExhausted, before the body is read if its length is known
 */
export const readJson = async (request: IncomingMessage, memory: MemoryLease): Promise<ParsedJson> => {
  refuseOtherTypes(request.headers['content-type'])
  return parseJson(await readBody(request, memory, MAX_BODY_BYTES))
}

/** The value of a JSON body, in steps. */
export const parseJsonBody = async (body: Buffer): Promise<Json> => {
  const { value } = await parseJson(body)
  return value
}

const parseJson = async (body: Buffer): Promise<ParsedJson> => {
  const decoded = body.toString('utf8')
  const text = decoded.startsWith('\ufeff') ? decoded.slice(1) : decoded
  if (text === '') throw invalid([{ loc: ['body'], type: 'missing', msg: 'Field required' }])
  return parse(text)
}

/**
 * Reads and decompresses a body of at most `limit` bytes, once there is memory for it.
 *
 * @throws MemoryExhausted, before the body is read if its length is known
 */
export const readBody = async (
  request: IncomingMessage,
  memory: MemoryLease,
  limit: number,
): Promise<Buffer> => {
  if (request.destroyed) throw new Failure('bad-request', 'The request body is incomplete.')
  const bytes = encodingOf(request) === 'identity' ? lengthOf(request) : null
  if (bytes !== null && bytes <= limit) await memory.reserve(bytes * MEMORY_PER_BYTE)
  const { stream, stop } = inflateBody(request)
  const isSmall = bytes !== null && bytes <= SMALL_BYTES
  const counted = isSmall ? stream : countedBy(memory, stream, bytes)
  try {
    return await getRawBody(counted, { limit, length: bytes })
  } catch (error) {
    stop()
    throw refusal(error, limit)
  }
}

const lengthOf = ({ headers }: IncomingMessage): number | null => {
  const length = headers['content-length']
  return length === undefined ? null : Number(length)
}

/** A body for which less is reserved need not show that it arrives. */
const SMALL_BYTES = 65_536
const LOOK_EVERY_MS = 2000
/** A body that would take more looks than this gives its reservation back. */
const MOST_LOOKS = 15

/**
 * Reserves memory for what arrives beyond the bytes that are reserved. Gives back what is reserved for a body that arrives
 * slowly or not at all, so that idle connections hold no memory.
 */
const countedBy = (memory: MemoryLease, stream: Readable, expected: number | null): Readable => {
  let reserved = expected ?? 0
  let [arrived, atLook] = [0, 0]
  const look = setInterval(() => {
    const isSlow = (arrived - atLook) * MOST_LOOKS < (expected ?? 0)
    atLook = arrived
    if (!isSlow || reserved <= arrived) return
    memory.shrink((reserved - arrived) * MEMORY_PER_BYTE)
    reserved = arrived
  }, LOOK_EVERY_MS).unref()
  const counting = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      arrived += chunk.length
      const more = Math.max(0, arrived - reserved)
      reserved += more
      const waiting = more === 0 ? undefined : memory.reserve(more * MEMORY_PER_BYTE)
      if (waiting === undefined) done(null, chunk)
      else waiting.then(() => done(null, chunk), done)
    },
  })
  const stopLooking = () => clearInterval(look)
  counting.once('end', stopLooking).once('close', stopLooking)
  const fail = (error: Error) => void counting.destroy(error)
  stream.once('error', fail).once('aborted', () => fail(new Aborted('the request was aborted')))
  return stream.pipe(counting)
}

const refusal = (error: unknown, limit: number): unknown => {
  const { type, code } = error as { type?: string; code?: string }
  if (type === 'entity.too.large')
    return new Failure(
      'too-large',
      `The request body exceeds the limit of ${limit} bytes. Split it into smaller requests.`,
    )
  if (code?.startsWith('Z_') === true || code?.startsWith('ERR_') === true)
    return new Failure('bad-request', 'The body does not match its Content-Encoding.')
  // A request whose client left while it waited is no longer readable.
  if (type === 'request.aborted' || type === 'stream.not.readable')
    return new Failure('bad-request', 'The request body is incomplete.')
  return error
}

const refuseOtherTypes = (contentType: string | undefined): void => {
  if (contentType === undefined || /^\s*application\/([\w.+-]+\+)?json\s*(;|$)/i.test(contentType)) return
  throw invalid([
    {
      loc: ['body'],
      type: 'model_attributes_type',
      msg: 'Input should be JSON: send it with Content-Type application/json',
    },
  ])
}

const parse = async (text: string): Promise<ParsedJson> => {
  try {
    return await parseJsonInSteps(text)
  } catch (error) {
    if (error instanceof TooManyValues)
      throw new Failure(
        'too-large',
        `The request body has more than ${MOST_VALUES} JSON values, or an object with more than ${MOST_MEMBERS} ` +
          'members. Split it into smaller requests, and use lists in place of large objects.',
      )
    if (error instanceof TooManyWideNumbers)
      throw new Failure(
        'too-large',
        `The request body has more than ${MOST_WIDE_NUMBERS} integers beyond 2^53. Split it into smaller requests.`,
      )
    // Other messages quote the body, which could look like a position.
    const position = / in JSON at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(String(error))?.[1]
    const loc = position === undefined ? ['body'] : ['body', Number(position)]
    throw invalid([{ loc, type: 'json_invalid', msg: 'JSON decode error' }])
  }
}

interface InflatedBody {
  readonly stream: Readable
  /** Stops decompressing and drains the rest of the request, so that the client reads the response. */
  readonly stop: () => void
}

/**
 * Decompresses the body of a request.
 *
 * @throws Failure for an unknown Content-Encoding
 */
const inflateBody = (request: IncomingMessage): InflatedBody => {
  const encoding = encodingOf(request)
  const decompressing = decompressor(encoding)
  if (decompressing === undefined && encoding !== 'identity')
    throw new Failure(
      'unsupported-type',
      'Unsupported Content-Encoding. Use identity, gzip, deflate or br.',
      { headers: { 'Accept-Encoding': 'gzip, deflate, br' } },
    )
  const stream = decompressing === undefined ? request : request.pipe(decompressing)
  if (stream !== request) {
    // A pipe does not propagate an abort of its source. The listener avoids an uncaught error after reading has
    // stopped.
    request.once('aborted', () => stream.destroy(new Aborted('the request was aborted')))
    stream.on('error', () => undefined)
  }
  const stop = () => {
    request.unpipe()
    if (stream !== request) stream.destroy()
    request.resume()
  }
  return { stream, stop }
}

const encodingOf = ({ headers }: IncomingMessage): string => {
  const named = (headers['content-encoding'] ?? '').trim().toLowerCase()
  return named === '' ? 'identity' : named === 'x-gzip' ? 'gzip' : named
}

/** Has the `type` that raw-body gives to aborted uncompressed requests. */
class Aborted extends Error {
  override readonly name = 'Aborted'
  readonly type = 'request.aborted'
}
