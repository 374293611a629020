import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { withDigitsOf } from '../json/digits.js'
import { isJsonObject, type Json, type JsonObject } from '../json/json.js'
import { parseJsonInSteps } from '../json/parse-in-steps.js'
import { BlobDamaged, type BlobStore } from '../ports/blobs.js'
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
export const readBack = async (blobs: Pick<BlobStore, 'get'>, data: JsonObject): Promise<JsonObject> =>
  withParsed(data, await spilledTexts(blobs, data))

/**
 * The JSON of an event's spilled fields.
 *
 * @throws FieldUnreadable; a failed read throws the store's own error
 */
export const spilledTexts = async (
  blobs: Pick<BlobStore, 'get'>,
  { spilled }: JsonObject,
): Promise<Readonly<Record<string, string>>> => {
  const fields = await Promise.all(
    Object.entries(isJsonObject(spilled) ? spilled : {}).map(async ([field, place]) => {
      if (!spilledField.is(place)) throw new FieldUnreadable(`spilled field ${field} has no blob reference`)
      const content = await blobs.get(place.digest).catch(asUnreadable)
      if (content === undefined)
        throw new FieldUnreadable(`blob ${place.digest} of field ${field} is missing`)
      return [field, new TextDecoder().decode(await inflated(content))] as const
    }),
  )
  return Object.fromEntries(fields)
}

/** Reading it again does not help. */
export const asUnreadable = (error: unknown): never => {
  throw error instanceof BlobDamaged ? new FieldUnreadable(error.message, { cause: error }) : error
}

/** @throws FieldUnreadable */
export const withParsed = async (
  data: JsonObject,
  texts: Readonly<Record<string, string>>,
): Promise<JsonObject> => {
  const fields: [string, Json][] = []
  for (const [field, text] of Object.entries(texts)) fields.push([field, await parsed(field, text)])
  return fields.length === 0 ? data : withDigitsOf(data, { ...data, ...Object.fromEntries(fields) })
}

/** The first bytes of gzip, with which no JSON begins. */
const GZIP = [0x1f, 0x8b]

const inflated = async (content: Uint8Array): Promise<Uint8Array> =>
  GZIP.every((byte, at) => content[at] === byte) ? promisify(gunzip)(content) : content

/** The parser's message would quote the payload. */
const parsed = async (field: string, text: string): Promise<Json> => {
  try {
    return (await parseJsonInSteps(text, { isLimited: false })).value
  } catch (cause) {
    throw new FieldUnreadable(`the blob of field ${field} is not JSON`, { cause })
  }
}
