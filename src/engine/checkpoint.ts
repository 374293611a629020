import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Moments } from './adam.js'
import { CheckpointInvalid } from './errors.js'
import { initialWeights } from './initial.js'
import { BASE_MODELS, weightCount, weightSections, type ModelShape } from './shape.js'

/**
 * A checkpoint is one file, all numbers little-endian: eight bytes of magic, the length of the header as a uint32, the
 * header as JSON padded with spaces to a multiple of four bytes, arrays of float32, and the SHA-256 of all bytes before it.
 */

export interface ModelState {
  readonly baseModel: string
  /** In the order of the sections of the shape. */
  readonly weights: Float32Array
  /** Of the optimiser. Training goes on from them. */
  readonly moments: Moments | null
  /** Steps of the optimiser since the base model. */
  readonly updates: number
}

const VERSION = 1
const MAGIC = Buffer.from('TALLYNET')
const HEADER_START = MAGIC.length + 4
const DIGEST_BYTES = 32
const FLOAT = 4

/** @throws CheckpointInvalid for an unknown base model */
export const shapeOf = (baseModel: string): ModelShape => {
  if (!Object.hasOwn(BASE_MODELS, baseModel))
    throw new CheckpointInvalid(
      `The engine has no base model "${baseModel}". It has ${Object.keys(BASE_MODELS).join(', ')}.`,
    )
  return BASE_MODELS[baseModel]!
}

/** A base model before any training: random weights. */
export const baseState = (baseModel: string, seed = 1): ModelState => ({
  baseModel,
  weights: initialWeights(shapeOf(baseModel), seed),
  moments: null,
  updates: 0,
})

const digestOf = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest()

const bytesOf = (floats: Float32Array): Uint8Array =>
  new Uint8Array(floats.buffer, floats.byteOffset, floats.byteLength)

export const encodeCheckpoint = ({ baseModel, weights, moments, updates }: ModelState): Uint8Array => {
  const shape = shapeOf(baseModel)
  const arrays = moments === null ? [] : [moments.first, moments.second]
  const header = JSON.stringify({
    version: VERSION,
    base_model: baseModel,
    shape,
    step: updates,
    arrays: ['weights', ...(moments === null ? [] : ['first_moments', 'second_moments'])],
    sections: weightSections(shape),
  })
  const length = Math.ceil((HEADER_START + Buffer.byteLength(header)) / FLOAT) * FLOAT - HEADER_START
  const size = Buffer.alloc(FLOAT)
  size.writeUInt32LE(length)
  const padded = Buffer.alloc(length, ' ')
  padded.write(header)
  const content = Buffer.concat([MAGIC, size, padded, ...[weights, ...arrays].map(bytesOf)])
  return Buffer.concat([content, digestOf(content)])
}

/** @throws CheckpointInvalid */
export const decodeCheckpoint = (bytes: Uint8Array): ModelState => {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (file.length < HEADER_START + DIGEST_BYTES || !file.subarray(0, MAGIC.length).equals(MAGIC))
    throw new CheckpointInvalid('The file is not a checkpoint of this engine.')
  const content = file.subarray(0, -DIGEST_BYTES)
  if (!digestOf(content).equals(file.subarray(-DIGEST_BYTES)))
    throw new CheckpointInvalid('The checkpoint is truncated or damaged: its SHA-256 digest does not match.')
  const dataStart = HEADER_START + content.readUInt32LE(MAGIC.length)
  const {
    base_model: baseModel,
    shape,
    step,
    arrays,
  } = headerOf(content.toString('utf8', HEADER_START, dataStart))
  const count = weightCount(shapeOf(baseModel))
  const isOfShape =
    isDeepStrictEqual(shape, shapeOf(baseModel)) &&
    content.length === dataStart + arrays.length * count * FLOAT
  if (!isOfShape) throw new CheckpointInvalid(`The checkpoint does not have the shape of ${baseModel}.`)
  const array = (index: number): Float32Array => {
    const floats = new Float32Array(count)
    const start = dataStart + index * count * FLOAT
    bytesOf(floats).set(content.subarray(start, start + count * FLOAT))
    if (!floats.every(Number.isFinite))
      throw new CheckpointInvalid('The checkpoint contains numbers that are not finite.')
    return floats
  }
  const moments = arrays.length === 3 ? { first: array(1), second: array(2) } : null
  return { baseModel, weights: array(0), moments, updates: step }
}

interface Header {
  readonly base_model: string
  readonly shape: unknown
  readonly step: number
  readonly arrays: readonly string[]
}

const headerOf = (text: string): Header => {
  const header: unknown = (() => {
    try {
      return JSON.parse(text) as unknown
    } catch (error) {
      throw new CheckpointInvalid('The header of the checkpoint is not JSON.', { cause: error })
    }
  })()
  const { version, ...rest } = (header ?? {}) as Header & { readonly version: unknown }
  if (version !== VERSION)
    throw new CheckpointInvalid(
      `The checkpoint has version ${String(version)}; this engine reads version ${VERSION}.`,
    )
  const isComplete =
    typeof rest.base_model === 'string' &&
    Number.isSafeInteger(rest.step) &&
    Array.isArray(rest.arrays) &&
    (rest.arrays.length === 1 || rest.arrays.length === 3)
  if (!isComplete) throw new CheckpointInvalid('The header of the checkpoint lacks a field.')
  return rest
}
