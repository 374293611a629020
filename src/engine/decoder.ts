import { causalSoftmax } from './attention.js'
import { shapeOf, type ModelState } from './checkpoint.js'
import { createKernel, matrix, type Floats } from './kernel.js'
import { normalise } from './layers.js'
import { HIDDEN_FACTOR, weightCount } from './shape.js'
import { VOCABULARY } from './tokens.js'
import { partsOf, transformer } from './transformer.js'

/** A sequence under generation: the keys and values of its tokens are cached. */
export interface DecodedSequence {
  /** Appends tokens, and returns the logits of the next one. They are valid until the next call for any sequence. */
  readonly append: (tokens: readonly number[]) => Floats
  /** Frees the cache for another sequence. */
  readonly release: () => void
}

export interface Decoder {
  /** Undefined while all caches are in use. */
  readonly open: () => DecodedSequence | undefined
}

/** Tokens of all caches of one decoder. */
const CACHED_TOKENS = 8192
/** Tokens of a prompt that are appended at once. */
const ROWS = 64

/** The forward pass of a model for sequences that grow, with the same results as that of the network for training. */
export const createDecoder = (state: ModelState): Decoder => {
  const shape = shapeOf(state.baseModel)
  const { width, layers, heads, context } = shape
  const [hidden, headWidth] = [HIDDEN_FACTOR * width, width / heads]
  const sequences = Math.max(1, Math.floor(CACHED_TOKENS / context))
  const cacheFloats = 2 * layers * context * width
  const kernel = createKernel(
    weightCount(shape) +
      sequences * cacheFloats +
      ROWS * (6 * width + hidden * 2 + context + 1) +
      2 * VOCABULARY,
  )
  const { floats, multiplyAdd } = kernel
  const weights = floats(weightCount(shape))
  weights.set(state.weights)
  const parts = partsOf(shape, ({ start, rows: inner, columns }) => ({
    weights: weights.subarray(start, start + inner * columns),
    inner,
    columns,
  }))
  const { linear, embed, block } = transformer(kernel, shape)
  const [rows, normalised, inverses] = [floats(ROWS * width), floats(ROWS * width), floats(ROWS)]
  const [projected, attended] = [floats(ROWS * 3 * width), floats(ROWS * width)]
  const scores = floats(ROWS * context)
  const buffers = {
    input: rows,
    middle: rows,
    output: rows,
    normalised,
    inverses,
    mlpNormalised: normalised,
    mlpInverses: inverses,
    projected,
    attended,
    activated: floats(ROWS * hidden),
    positive: floats(ROWS * hidden),
  }
  const logits = floats(VOCABULARY)
  const caches = Array.from({ length: sequences }, () =>
    Array.from({ length: layers }, () => ({
      /** Transposed: a row for each element of the keys. */
      keys: floats(width * context),
      values: floats(context * width),
    })),
  )
  type Cache = (typeof caches)[number]
  const free = [...caches]

  const attend = ({ keys, values }: Cache[number], from: number, count: number): void => {
    const [visible, span] = [from + count, Math.ceil((from + count) / 8) * 8]
    for (let row = 0; row < count; row += 1) {
      const start = row * 3 * width
      for (let i = 0; i < width; i += 1) keys[i * context + from + row] = projected[start + width + i]!
      values.set(projected.subarray(start + 2 * width, start + 3 * width), (from + row) * width)
    }
    attended.fill(0, 0, count * width)
    for (let index = 0; index < heads; index += 1) {
      const column = index * headWidth
      const square = matrix(scores, span)
      scores.fill(0, 0, count * span)
      multiplyAdd(
        matrix(projected, 3 * width, column),
        matrix(keys, context, column * context),
        square,
        count,
        headWidth,
        span,
      )
      for (let row = 0; row < count; row += 1)
        causalSoftmax(scores, row * span, from + row + 1, span, 1 / Math.sqrt(headWidth))
      multiplyAdd(
        square,
        matrix(values, width, column),
        matrix(attended, width, column),
        count,
        visible,
        headWidth,
      )
    }
  }

  const forward = (cache: Cache, tokens: readonly number[], from: number): void => {
    embed(parts, tokens, ROWS, from, rows)
    for (const [layer, part] of parts.blocks.entries())
      block(part, buffers, tokens.length, () => attend(cache[layer]!, from, tokens.length))
  }

  const opened = (cache: Cache): DecodedSequence => {
    let length = 0
    return {
      append: (tokens) => {
        for (let start = 0; start < tokens.length; start += ROWS) {
          const chunk = tokens.slice(start, start + ROWS)
          forward(cache, chunk, length)
          length += chunk.length
          rows.copyWithin(0, (chunk.length - 1) * width, chunk.length * width)
        }
        normalise(rows, parts.outputNorm.weights, normalised, inverses, 1)
        logits.fill(0)
        linear(normalised, parts.head, logits, 1)
        return logits
      },
      release: () => free.push(cache),
    }
  }

  return {
    open: () => {
      const cache = free.pop()
      return cache === undefined ? undefined : opened(cache)
    },
  }
}
