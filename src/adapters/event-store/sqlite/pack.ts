import { promisify } from 'node:util'
import { brotliCompress, brotliDecompressSync, constants, crc32 } from 'node:zlib'
import type { EventTexts } from '../seal.js'

/** The same as UTF-8, with the position of the event. */
export interface EventBytes {
  readonly position: number
  readonly data: Buffer
  readonly metadata: Buffer
}

/** Finds the texts of an event by its position. */
export type Unpacked = (position: number) => EventTexts | undefined

/** Measured: quality 5 saves 4 % and takes twice as long. */
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }
const HEADER_BYTES = 8

/**
 * Compresses events together. A pack is the CRC-32 of its content, the length of its content, 4 bytes each, and the
 * content compressed with brotli. The content is a line of JSON with the position and both lengths of each event, and
 * then the texts.
 */
export const pack = async (events: readonly EventBytes[]): Promise<Buffer> => {
  const lengths = events.map(({ position, data, metadata }) => [position, data.length, metadata.length])
  const texts = events.flatMap(({ data, metadata }) => [data, metadata])
  const content = Buffer.concat([Buffer.from(`${JSON.stringify(lengths)}\n`), ...texts])
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt32LE(crc32(content), 0)
  header.writeUInt32LE(content.length, 4)
  return Buffer.concat([header, await compressed(content, QUALITY)])
}

const compressed = promisify<Buffer, typeof QUALITY, Buffer>(brotliCompress)

/** Undefined if the pack is corrupt. */
export const unpack = (packed: Buffer): Unpacked | undefined => {
  const content = contentOf(packed)
  if (content === undefined) return undefined
  const places = new Map<number, readonly [start: number, middle: number, end: number]>()
  let start = content.indexOf('\n') + 1
  for (const [position, data, metadata] of lengthsIn(content.toString('utf8', 0, start))) {
    const middle = start + data
    places.set(position, [start, middle, middle + metadata])
    start = middle + metadata
  }
  return (position) => {
    const place = places.get(position)
    if (place === undefined) return undefined
    const [from, middle, end] = place
    return { data: content.toString('utf8', from, middle), metadata: content.toString('utf8', middle, end) }
  }
}

const lengthsIn = (line: string) =>
  JSON.parse(line) as readonly (readonly [position: number, data: number, metadata: number])[]

const contentOf = (packed: Buffer): Buffer | undefined => {
  if (packed.length < HEADER_BYTES) return undefined
  const length = packed.readUInt32LE(4)
  try {
    // One chunk takes the whole content, and a corrupt pack cannot take more.
    const options = { chunkSize: Math.max(length, 64), maxOutputLength: length }
    const content = brotliDecompressSync(packed.subarray(HEADER_BYTES), options)
    return crc32(content) === packed.readUInt32LE(0) ? content : undefined
  } catch {
    return undefined
  }
}
