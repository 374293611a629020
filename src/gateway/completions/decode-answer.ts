import { pipeline, Readable } from 'node:stream'
import { decompressor } from '../../kernel/decompressor.js'
import { UpstreamFault, type UpstreamAnswer } from '../../domain/gateway/upstreams/upstream-client.js'
import { invalidUpstreamResponse } from './upstream-failure.js'

const MAX_CODINGS = 3
/** `utf-8` is no coding, but is sent as one. */
const NO_CODING = /^(|identity|none|utf-?8)$/

/**
 * The body of an answer without its content codings. `identity` is requested, but fronts of providers compress anyway.
 *
 * @throws Failure for an unknown coding
 */
export const decodedBody = ({ headers, body }: UpstreamAnswer): AsyncIterable<Uint8Array> => {
  const codings = (headers['content-encoding'] ?? '')
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim().replace(/^x-/, ''))
    .filter((coding) => !NO_CODING.test(coding))
  const unknown = codings.find((coding) => !/^(gzip|deflate|br)$/.test(coding))
  if (unknown !== undefined || codings.length > MAX_CODINGS)
    throw invalidUpstreamResponse(
      `its content-encoding is ${JSON.stringify(codings.join(', ').slice(0, 100))}; gzip, deflate and br can be read`,
    )
  return codings.reduceRight(inflated, body)
}

/** Not a generator: stopping before the first piece must close the connection too. */
const inflated = (body: AsyncIterable<Uint8Array>, coding: string): AsyncIterable<Uint8Array> => {
  const source = body[Symbol.asyncIterator]()
  const inflating = decompressor(coding)!
  pipeline(Readable.from({ [Symbol.asyncIterator]: () => source }), inflating, () => undefined)
  const pieces = inflating[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
  const reading: AsyncIterator<Uint8Array> = {
    next: () =>
      pieces.next().catch((error: unknown) => {
        if (error instanceof UpstreamFault) throw error
        throw new UpstreamFault('protocol', `invalid ${coding}`, { cause: error })
      }),
    return: async () => {
      inflating.destroy()
      await source.return?.()
      return { done: true, value: undefined }
    },
  }
  return { [Symbol.asyncIterator]: () => reading }
}
