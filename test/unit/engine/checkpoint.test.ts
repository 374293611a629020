import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { baseState, decodeCheckpoint, encodeCheckpoint } from '../../../src/engine/checkpoint.js'
import { CheckpointInvalid } from '../../../src/engine/errors.js'
import { startSft } from '../../../src/engine/sft.js'
import { trainingTokens } from '../../../src/engine/tokens.js'

const trainedState = () => {
  const training = startSft(baseState('tiny/byte', 4))
  training.step([trainingTokens([{ role: 'assistant', content: 'hello' }], 'all')], 1e-3)
  return training.state()
}

/** The file with a changed header and a digest that fits. */
const withHeader = (bytes: Uint8Array, change: (header: string) => string): Uint8Array => {
  const file = Buffer.from(bytes)
  const end = 12 + file.readUInt32LE(8)
  const header = Buffer.from(change(file.toString('utf8', 12, end)))
  const size = Buffer.alloc(4)
  size.writeUInt32LE(header.length)
  const content = Buffer.concat([file.subarray(0, 8), size, header, file.subarray(end, -32)])
  return Buffer.concat([content, createHash('sha256').update(content).digest()])
}

const refuses = (bytes: Uint8Array, reason: RegExp): void =>
  assert.throws(
    () => decodeCheckpoint(bytes),
    (error) => error instanceof CheckpointInvalid && reason.test(error.message),
  )

describe('a checkpoint', () => {
  const state = trainedState()
  const bytes = encodeCheckpoint(state)

  it('keeps weights, moments and updates', () => {
    assert.deepEqual(decodeCheckpoint(bytes), state)
    const base = baseState('tiny/byte')
    assert.deepEqual(decodeCheckpoint(encodeCheckpoint(base)), base)
  })

  it('has equal bytes for equal seeds', () => {
    assert.deepEqual(encodeCheckpoint(trainedState()), bytes)
    assert.deepEqual(encodeCheckpoint(baseState('tiny/byte', 7)), encodeCheckpoint(baseState('tiny/byte', 7)))
    assert.notDeepEqual(baseState('tiny/byte', 7).weights, baseState('tiny/byte', 8).weights)
  })

  it('decodes from a view at any offset', () => {
    const larger = new Uint8Array(bytes.length + 3)
    larger.set(bytes, 3)
    assert.deepEqual(decodeCheckpoint(larger.subarray(3)), state)
  })

  it('is refused when truncated', () => {
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), (length) =>
        refuses(bytes.subarray(0, length), /truncated|not a checkpoint/),
      ),
    )
  })

  it('is refused with a flipped bit', () => {
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.nat(7), (index, bit) => {
        const damaged = Uint8Array.from(bytes)
        damaged[index]! ^= 1 << bit
        refuses(damaged, /damaged|not a checkpoint/)
      }),
    )
  })

  it('is refused when its header does not fit', () => {
    const changed = (from: string, to: string) => withHeader(bytes, (header) => header.replace(from, to))
    refuses(changed('"version":1', '"version":2'), /version 2/)
    refuses(changed('"tiny/byte"', '"huge"'), /no base model "huge"/)
    refuses(changed('"tiny/byte"', '"tiny/byte-large"'), /shape of tiny/)
    refuses(changed('"heads":4', '"heads":8'), /shape of tiny/)
    refuses(changed('"step"', '"stop"'), /lacks a field/)
    refuses(
      withHeader(bytes, () => '{'),
      /not JSON/,
    )
    refuses(
      withHeader(bytes, () => 'null'),
      /version undefined/,
    )
    refuses(encodeCheckpoint({ ...state, weights: state.weights.map(() => NaN) }), /not finite/)
  })
})
