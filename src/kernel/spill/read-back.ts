import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { withDigitsOf } from '../json/digits.js'
import { isJsonObject, type Json, type JsonObject } from '../json/json.js'
import { parseJson } from '../json/parse.js'
import type { BlobStore } from '../ports/blobs.js'
import { spilledField } from './fields.js'

/** The blob of a spilled field is missing or invalid. */
export class FieldUnreadable extends Error {
  override readonly name = 'FieldUnreadable'
}

/**
 * An event's data with its spilled fields read back.
 *
 * @throws FieldUnreadable; a failed read throws the store's own error
 */
export const readBack = async (blobs: Pick<BlobStore, 'get'>, data: JsonObject): Promise<JsonObject> => {
  const { spilled } = data
  if (!isJsonObject(spilled) || Object.keys(spilled).length === 0) return data
  const fields = await Promise.all(
    Object.entries(spilled).map(async ([field, place]) => {
      if (!spilledField.is(place)) throw new FieldUnreadable(`spilled field ${field} has no blob reference`)
      const content = await blobs.get(place.digest)
      if (content === undefined)
        throw new FieldUnreadable(`blob ${place.digest} of field ${field} is missing`)
      return [field, parsed(await inflated(content), place.digest)] as const
    }),
  )
  return withDigitsOf(data, { ...data, ...Object.fromEntries(fields) })
}

/** The first bytes of gzip, with which no JSON begins. */
const GZIP = [0x1f, 0x8b]

const inflated = async (content: Uint8Array): Promise<Uint8Array> =>
  GZIP.every((byte, at) => content[at] === byte) ? promisify(gunzip)(content) : content

/** The parser's message would quote the payload. */
const parsed = (content: Uint8Array, digest: string): Json => {
  try {
    return parseJson(new TextDecoder().decode(content))
  } catch (cause) {
    throw new FieldUnreadable(`blob ${digest} is not JSON`, { cause })
  }
}
