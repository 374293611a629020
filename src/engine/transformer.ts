import { matrix, type Floats, type Kernel } from './kernel.js'
import { normalise, squaredRelu } from './layers.js'
import { HIDDEN_FACTOR, weightSections, type ModelShape, type WeightSection } from './shape.js'

/** The weights of a matrix or of a vector. */
type Part = { readonly weights: Floats } & Record<'inner' | 'columns', number>

/** The parts of a model, of which `partOf` makes each from its section of the weights. */
export const partsOf = <P extends Part>(shape: ModelShape, partOf: (section: WeightSection) => P) => {
  const sections = weightSections(shape)
  const part = (name: string): P => partOf(sections.find((section) => section.name === name)!)
  return {
    tokenEmbedding: part('token_embedding'),
    positionEmbedding: part('position_embedding'),
    blocks: Array.from({ length: shape.layers }, (_, layer) => ({
      attentionNorm: part(`layers.${layer}.attention.norm`),
      attentionInput: part(`layers.${layer}.attention.input`),
      attentionOutput: part(`layers.${layer}.attention.output`),
      mlpNorm: part(`layers.${layer}.mlp.norm`),
      mlpInput: part(`layers.${layer}.mlp.input`),
      mlpOutput: part(`layers.${layer}.mlp.output`),
    })),
    outputNorm: part('output.norm'),
    head: part('output.head'),
  }
}

type Parts = ReturnType<typeof partsOf<Part>>

type Activation =
  | ('input' | 'normalised' | 'inverses' | 'projected' | 'attended' | 'middle')
  | ('mlpNormalised' | 'mlpInverses' | 'activated' | 'positive' | 'output')

/** The forward pass of training and of sampling, but for the attention. */
export const transformer = ({ multiplyAdd }: Kernel, { width }: ModelShape) => {
  /** output += input·weights */
  const linear = (input: Floats, { weights, inner, columns }: Part, output: Floats, rows: number): void =>
    multiplyAdd(matrix(input, inner), matrix(weights, columns), matrix(output, columns), rows, inner, columns)

  const copy = (from: Floats, to: Floats, rows: number): void => {
    if (from !== to) to.set(from.subarray(0, rows * width))
  }

  return {
    linear,
    /** Embeds tokens of sequences of one length, the first of each at the position `from`. */
    embed: (
      { tokenEmbedding, positionEmbedding }: Pick<Parts, 'tokenEmbedding' | 'positionEmbedding'>,
      tokens: ArrayLike<number>,
      length: number,
      from: number,
      to: Floats,
    ): void => {
      for (let row = 0; row < tokens.length; row += 1) {
        const [token, position] = [tokens[row]! * width, (from + (row % length)) * width]
        for (let i = 0; i < width; i += 1)
          to[row * width + i] = tokenEmbedding.weights[token + i]! + positionEmbedding.weights[position + i]!
      }
    },
    /**
     * `attend` writes `attended`, given `projected`. `input`, `middle` and `output` may be one buffer where no backward
     * pass reads them.
     */
    block: (
      part: Parts['blocks'][number],
      buffers: Readonly<Record<Activation, Floats>>,
      rows: number,
      attend: () => void,
    ): void => {
      const { input, normalised, projected, attended, middle, mlpNormalised, activated, output } = buffers
      normalise(input, part.attentionNorm.weights, normalised, buffers.inverses, rows)
      projected.fill(0, 0, rows * 3 * width)
      linear(normalised, part.attentionInput, projected, rows)
      attend()
      copy(input, middle, rows)
      linear(attended, part.attentionOutput, middle, rows)
      normalise(middle, part.mlpNorm.weights, mlpNormalised, buffers.mlpInverses, rows)
      activated.fill(0, 0, rows * HIDDEN_FACTOR * width)
      linear(mlpNormalised, part.mlpInput, activated, rows)
      squaredRelu(activated, buffers.positive, rows * HIDDEN_FACTOR * width)
      copy(middle, output, rows)
      linear(activated, part.mlpOutput, output, rows)
    },
  }
}
