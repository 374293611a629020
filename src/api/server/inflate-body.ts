import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import inflate from 'inflation'
import { Failure } from '../../application/failure.js'

export interface InflatedBody {
  readonly stream: Readable
  /** Stops decompressing and drains the rest of the request, so that the client reads the response. */
  readonly stop: () => void
}

const ENCODINGS = new Set(['identity', 'gzip', 'deflate', 'br'])

/**
 * Decompresses the body of a request.
 *
 * @throws Failure for an unknown Content-Encoding
 */
export const inflateBody = (request: IncomingMessage): InflatedBody => {
  const encoding = encodingOf(request)
  if (!ENCODINGS.has(encoding))
    throw new Failure('bad-request', 'Unsupported Content-Encoding. Use identity, gzip, deflate or br.')
  const stream = inflate(request, { encoding })
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
