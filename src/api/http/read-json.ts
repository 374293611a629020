import type { IncomingMessage } from 'node:http'
import inflate from 'inflation'
import getRawBody from 'raw-body'
import type { Json } from '../../domain/json/json.js'
import { Failure, invalid } from '../failure.js'

/** The largest JSON body, in bytes after decompression. */
export const MAX_BODY_BYTES = 33_554_432

export interface JsonBody {
  readonly value: Json
  /** A string in it may hold half of a surrogate pair, written as an escape. */
  readonly mayBeIllFormed: boolean
}

/** Reads a request's JSON body; bytes that are not UTF-8 become U+FFFD. */
export const readJson = async (request: IncomingMessage): Promise<JsonBody> => {
  refuseOtherTypes(request.headers['content-type'])
  const text = (await readBytes(request)).toString('utf8')
  if (text === '') throw invalid([{ loc: ['body'], type: 'missing', msg: 'Field required' }])
  return { value: parse(text), mayBeIllFormed: /\\u[dD][89a-fA-F]/.test(text) }
}

const readBytes = async (request: IncomingMessage): Promise<Buffer> => {
  try {
    return await getRawBody(inflate(request), { limit: MAX_BODY_BYTES })
  } catch (error) {
    request.resume()
    throw refusal(error)
  }
}

const refusal = (error: unknown): unknown => {
  const { type, status, code } = error as { type?: string; status?: number; code?: string }
  if (type === 'entity.too.large')
    return new Failure(
      'too-large',
      `The request body is over the limit of ${MAX_BODY_BYTES} bytes. Send less at once.`,
    )
  if (status === 415)
    return new Failure('bad-request', 'The Content-Encoding is not known. Use identity, gzip, deflate or br.')
  if (
    code?.startsWith('Z_') === true ||
    code?.startsWith('ERR_BROTLI') === true ||
    code?.startsWith('ERR__ERROR') === true
  )
    return new Failure('bad-request', 'The body is not what its Content-Encoding says.')
  if (type === 'request.aborted' || type === 'request.size.invalid')
    return new Failure('bad-request', 'The body ended before it was complete.')
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

const parse = (text: string): Json => {
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    const position = /position (\d+)/.exec(String(error))?.[1]
    throw invalid([{ loc: ['body', Number(position ?? 0)], type: 'json_invalid', msg: 'JSON decode error' }])
  }
}
