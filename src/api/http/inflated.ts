import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import inflate from 'inflation'
import { Failure } from '../failure.js'

export interface Inflated {
  /** The body, decompressed as its Content-Encoding says. */
  readonly stream: Readable
  /** Decompresses no more; what still comes is read and dropped, so that the answer can be given. */
  readonly stop: () => void
}

const ENCODINGS = new Set(['identity', 'gzip', 'deflate', 'br'])

/**
 * A request's body in clear.
 *
 * @throws Failure for a Content-Encoding that is not known
 */
export const inflated = (request: IncomingMessage): Inflated => {
  const encoding = encodingOf(request)
  if (!ENCODINGS.has(encoding))
    throw new Failure('bad-request', 'Unsupported Content-Encoding. Use identity, gzip, deflate or br.')
  const stream = inflate(request, { encoding })
  if (stream !== request) {
    // A pipe does not pass on that its source broke off, and an error must have a listener also after the reading.
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

/** In the form in which a body that breaks off is told of uncompressed ones. */
class Aborted extends Error {
  override readonly name = 'Aborted'
  readonly type = 'request.aborted'
}
