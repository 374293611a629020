import { VOCABULARY } from './tokens.js'

/** The dimensions of a transformer. `context` is the longest sequence of tokens, a multiple of 8. */
export interface ModelShape {
  readonly width: number
  readonly layers: number
  readonly heads: number
  readonly context: number
}

export const BASE_MODELS: Readonly<Record<string, ModelShape>> = {
  'tiny/byte': { width: 64, layers: 2, heads: 4, context: 512 },
  'tiny/byte-large': { width: 128, layers: 4, heads: 4, context: 512 },
  // For conversations of several turns.
  'tiny/byte-2k': { width: 64, layers: 2, heads: 4, context: 2048 },
}

/** A part of the weights: a matrix with `rows` rows, or a vector with one. */
export interface WeightSection {
  readonly name: string
  readonly start: number
  readonly rows: number
  readonly columns: number
}

/** The hidden layer of each multilayer perceptron is this many times as wide as the model. */
export const HIDDEN_FACTOR = 4

/** All weights in order. A matrix maps a row vector of `rows` elements to one of `columns`. */
export const weightSections = ({ width, layers, context }: ModelShape): readonly WeightSection[] => {
  const hidden = HIDDEN_FACTOR * width
  const parts: readonly (readonly [name: string, rows: number, columns: number])[] = [
    ['token_embedding', VOCABULARY, width],
    ['position_embedding', context, width],
    ...Array.from({ length: layers }, (_, layer) => `layers.${layer}.`).flatMap(
      (layer) =>
        [
          [`${layer}attention.norm`, 1, width],
          [`${layer}attention.input`, width, 3 * width],
          [`${layer}attention.output`, width, width],
          [`${layer}mlp.norm`, 1, width],
          [`${layer}mlp.input`, width, hidden],
          [`${layer}mlp.output`, hidden, width],
        ] as const,
    ),
    ['output.norm', 1, width],
    ['output.head', width, VOCABULARY],
  ]
  let start = 0
  return parts.map(([name, rows, columns]) => {
    const section = { name, start, rows, columns }
    start += rows * columns
    return section
  })
}

export const weightCount = (shape: ModelShape): number => {
  const { start, rows, columns } = weightSections(shape).at(-1)!
  return start + rows * columns
}
