import assert from 'node:assert/strict'
import { initialWeights } from '../../../src/engine/initial.js'
import { createNetwork, type Network, type TokenBatch } from '../../../src/engine/network.js'
import { weightSections, type ModelShape } from '../../../src/engine/shape.js'
import { VOCABULARY } from '../../../src/engine/tokens.js'

/** The context spans two blocks of the attention. */
const SHAPE: ModelShape = { width: 16, layers: 2, heads: 2, context: 80 }
const SEQUENCES = 2
const LENGTH = 72

const tokens = Int32Array.from({ length: SEQUENCES * LENGTH }, (_, index) => (index * 7919) % VOCABULARY)
const rows = [...tokens.keys()].filter((row) => row % LENGTH < LENGTH - 1 && row % 3 > 0)
const batch: TokenBatch = {
  sequences: SEQUENCES,
  length: LENGTH,
  tokens,
  targetRows: Int32Array.from(rows),
  targets: Int32Array.from(rows, (row) => tokens[row + 1]!),
}
const derivatives = Float64Array.from(rows, (_, index) => Math.sin(index) / 5)

const givenNetwork = (): Network => {
  const network = createNetwork(SHAPE)
  network.weights.set(initialWeights(SHAPE, 3))
  // Larger weights of the head make its gradients large enough to compare.
  const { start } = weightSections(SHAPE).at(-1)!
  for (let i = start; i < network.weights.length; i += 1) network.weights[i]! *= 20
  return network
}

describe('the network', () => {
  const network = givenNetwork()
  const loss = (): number =>
    network.forward(batch).logprobs.reduce((sum, logprob, index) => sum + logprob * derivatives[index]!, 0)

  it('finds the gradients that finite differences find, for each kind of weight', () => {
    loss()
    network.gradients.fill(0)
    network.backward(batch, derivatives)
    const gradients = Float32Array.from(network.gradients)
    const difference = (index: number): number => {
      const [before, step] = [network.weights[index]!, 4e-3]
      network.weights[index] = before + step
      const above = loss()
      network.weights[index] = before - step
      const below = loss()
      network.weights[index] = before
      return (above - below) / (2 * step)
    }
    for (const { name, start, rows: height, columns } of weightSections(SHAPE)) {
      const indexes = Array.from(
        { length: 8 },
        (_, index) => start + ((index * 104_729) % (height * columns)),
      )
      const found = indexes.map((index) => gradients[index]!)
      const expected = indexes.map(difference)
      const error = Math.hypot(...found.map((value, index) => value - expected[index]!))
      const relative = error / Math.hypot(...expected)
      assert.ok(relative < 1e-2, `${name}: ${relative}`)
    }
  })

  it('adds to the gradients', () => {
    network.gradients.fill(0)
    loss()
    network.backward(batch, derivatives)
    const once = Float32Array.from(network.gradients)
    loss()
    network.backward(batch, derivatives)
    const isTwice = network.gradients.every((value, index) => Math.abs(value - 2 * once[index]!) < 1e-3)
    assert.ok(isTwice)
  })

  it('predicts a token only from tokens before it in its sequence', () => {
    const before = network.forward(batch).logprobs
    const changed = Int32Array.from(tokens, (token, index) =>
      index === 40 ? (token + 1) % VOCABULARY : token,
    )
    const after = network.forward({ ...batch, tokens: changed }).logprobs
    const differing = rows.filter((_, index) => before[index] !== after[index])
    assert.ok(differing.length > 0)
    assert.ok(differing.every((row) => row >= 40 && row < LENGTH))
  })

  it('computes the entropy of the predictions', () => {
    const uniform = createNetwork(SHAPE)
    for (const entropy of uniform.forward(batch).entropies)
      assert.ok(Math.abs(entropy - Math.log(VOCABULARY)) < 1e-6)
  })
})
