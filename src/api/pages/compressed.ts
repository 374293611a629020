import type { IncomingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { RouteResponse, TextResponse } from '../server/route.js'

const compress = promisify(gzip)

/** Smaller responses fit into a packet. */
const LEAST_CHARACTERS = 1400

/** Fast, because the response is made for one request. */
const LEVEL = 4

/** A JSON response, compressed if the client accepts gzip. */
export const compressedJson = <Answer extends object>(
  headers: IncomingHttpHeaders,
  body: Answer,
): Promise<RouteResponse<Answer>> => compressedText(headers, JSON.stringify(body))

/** The same for JSON text, whose numbers keep all their digits. */
export const compressedText = async (headers: IncomingHttpHeaders, text: string): Promise<TextResponse> => {
  const type = 'application/json; charset=utf-8'
  const vary = { Vary: 'Accept-Encoding' }
  if (
    text.length < LEAST_CHARACTERS ||
    !/\bgzip\b(?!;q=0(\.0*)?(,|$))/.test(String(headers['accept-encoding']))
  )
    return { body: text, type, headers: vary }
  return {
    body: await compress(text, { level: LEVEL }),
    type,
    headers: { ...vary, 'Content-Encoding': 'gzip' },
  }
}
