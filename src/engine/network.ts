import { attention, type BatchSize } from './attention.js'
import { createKernel, matrix, transposed, type Floats } from './kernel.js'
import { normalise, normaliseBackward, softmaxRow, squaredReluBackward } from './layers.js'
import { HIDDEN_FACTOR, weightCount, type ModelShape } from './shape.js'
import { VOCABULARY } from './tokens.js'
import { partsOf, transformer } from './transformer.js'

/** Sequences padded at their end to one length, and the tokens whose probability counts. */
export interface TokenBatch extends BatchSize {
  /** The tokens of all sequences. Padding is any token: causal attention hides it from the tokens before it. */
  readonly tokens: Int32Array
  /** For each target the row that predicts it: the index in `tokens` of the token before it. */
  readonly targetRows: Int32Array
  readonly targets: Int32Array
}

/** For each target of a batch. */
export interface TargetProbabilities {
  readonly logprobs: Float64Array
  readonly entropies: Float64Array
}

export interface Network {
  readonly weights: Floats
  /** The sum of the gradients since it was last set to 0. */
  readonly gradients: Floats
  readonly forward: (batch: TokenBatch) => TargetProbabilities
  /** Adds the gradients of a loss, given its derivative by the logprob of each target of the last forward pass. */
  readonly backward: (batch: TokenBatch, derivatives: Float64Array) => void
}

/** Rows of one batch at most. */
export const batchRows = ({ context }: ModelShape): number => Math.max(context, 1024)

/** A transformer whose layers are normalised at their input, with room for the activations of one batch. */
export const createNetwork = (shape: ModelShape): Network => {
  const { width, layers, heads, context } = shape
  const hidden = HIDDEN_FACTOR * width
  const rows = batchRows(shape)
  const squares = rows * context * heads
  const perLayer = rows * (7 * width + 2 * hidden + 2) + squares
  const total =
    2 * weightCount(shape) +
    layers * perLayer +
    rows * (10 * width + hidden + VOCABULARY + 1) +
    64 * context +
    1024 * (layers + 1)
  const kernel = createKernel(total)
  const { floats, multiplyAdd } = kernel
  const weights = floats(weightCount(shape))
  const gradients = floats(weightCount(shape))
  const { tokenEmbedding, positionEmbedding, outputNorm, head, ...parts } = partsOf(
    shape,
    ({ start, rows: inner, columns }) => {
      const within = (all: Floats): Floats => all.subarray(start, start + inner * columns)
      return { weights: within(weights), gradients: within(gradients), inner, columns }
    },
  )
  type Part = typeof head
  const outputs = Array.from({ length: layers + 1 }, () => floats(rows * width))
  const blocks = parts.blocks.map((part, layer) => ({
    ...part,
    input: outputs[layer]!,
    output: outputs[layer + 1]!,
    normalised: floats(rows * width),
    inverses: floats(rows),
    projected: floats(rows * 3 * width),
    probabilities: floats(squares),
    attended: floats(rows * width),
    middle: floats(rows * width),
    mlpNormalised: floats(rows * width),
    mlpInverses: floats(rows),
    positive: floats(rows * hidden),
    activated: floats(rows * hidden),
  }))
  const output = outputs[layers]!
  const outputNormalised = floats(rows * width)
  const outputInverses = floats(rows)
  const targetInputs = floats(rows * width)
  const logits = floats(rows * VOCABULARY)
  const gradient = floats(rows * width)
  const narrowGradient = floats(rows * width)
  const wideGradient = floats(rows * hidden)
  const attend = attention(kernel, shape)
  const { linear, embed, block: forwardBlock } = transformer(kernel, shape)

  /** Adds to the gradient of the weights, and writes that of the input. */
  const linearBackward = (
    input: Floats,
    by: Part,
    ofOutput: Floats,
    ofInput: Floats,
    count: number,
  ): void => {
    const [left, right] = [transposed(matrix(input, by.inner)), matrix(ofOutput, by.columns)]
    multiplyAdd(left, right, matrix(by.gradients, by.columns), by.inner, count, by.columns)
    ofInput.fill(0, 0, count * by.inner)
    const weightsTransposed = transposed(matrix(by.weights, by.columns))
    multiplyAdd(right, weightsTransposed, matrix(ofInput, by.inner), count, by.columns, by.inner)
  }

  const embedBackward = ({ tokens, length }: TokenBatch): void => {
    for (let row = 0; row < tokens.length; row += 1) {
      const [token, position] = [tokens[row]! * width, (row % length) * width]
      for (let i = 0; i < width; i += 1) {
        const value = gradient[row * width + i]!
        tokenEmbedding.gradients[token + i]! += value
        positionEmbedding.gradients[position + i]! += value
      }
    }
  }

  return {
    weights,
    gradients,
    forward: (batch) => {
      const count = batch.tokens.length
      embed({ tokenEmbedding, positionEmbedding }, batch.tokens, batch.length, 0, outputs[0]!)
      for (const block of blocks)
        forwardBlock(block, block, count, () => attend.forward(block, block.attended, batch))
      normalise(output, outputNorm.weights, outputNormalised, outputInverses, count)
      const { targetRows, targets } = batch
      for (const [index, row] of targetRows.entries())
        targetInputs.set(outputNormalised.subarray(row * width, (row + 1) * width), index * width)
      logits.fill(0, 0, targets.length * VOCABULARY)
      linear(targetInputs, head, logits, targets.length)
      const [logprobs, entropies] = [new Float64Array(targets.length), new Float64Array(targets.length)]
      for (const [index, target] of targets.entries()) {
        const { logprob, entropy } = softmaxRow(logits, index * VOCABULARY, VOCABULARY, target)
        logprobs[index] = logprob
        entropies[index] = entropy
      }
      return { logprobs, entropies }
    },
    backward: (batch, derivatives) => {
      const count = batch.tokens.length
      const { targetRows, targets } = batch
      // The derivative of a logprob by the logits: 1 at the target, less the probabilities.
      for (const [index, target] of targets.entries()) {
        const start = index * VOCABULARY
        const derivative = derivatives[index]!
        for (let i = start; i < start + VOCABULARY; i += 1) logits[i]! *= -derivative
        logits[start + target]! += derivative
      }
      linearBackward(targetInputs, head, logits, wideGradient, targets.length)
      narrowGradient.fill(0, 0, count * width)
      for (const [index, row] of targetRows.entries())
        narrowGradient.set(wideGradient.subarray(index * width, (index + 1) * width), row * width)
      const through = (input: Floats, norm: Part, inverses: Floats): void =>
        normaliseBackward(input, norm.weights, inverses, narrowGradient, gradient, norm.gradients, count)
      gradient.fill(0, 0, count * width)
      through(output, outputNorm, outputInverses)
      for (const block of [...blocks].reverse()) {
        linearBackward(block.activated, block.mlpOutput, gradient, wideGradient, count)
        squaredReluBackward(block.positive, wideGradient, count * hidden)
        linearBackward(block.mlpNormalised, block.mlpInput, wideGradient, narrowGradient, count)
        through(block.middle, block.mlpNorm, block.mlpInverses)
        linearBackward(block.attended, block.attentionOutput, gradient, narrowGradient, count)
        attend.backward(block, narrowGradient, wideGradient, batch)
        linearBackward(block.normalised, block.attentionInput, wideGradient, narrowGradient, count)
        through(block.input, block.attentionNorm, block.inverses)
      }
      embedBackward(batch)
    },
  }
}
