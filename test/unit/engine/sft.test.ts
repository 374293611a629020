import assert from 'node:assert/strict'
import { baseState, encodeCheckpoint, type ModelState } from '../../../src/engine/checkpoint.js'
import { SequenceInvalid, TrainingDiverged } from '../../../src/engine/errors.js'
import { sample } from '../../../src/engine/sample.js'
import { meanLoss, startSft, type SftExample } from '../../../src/engine/sft.js'
import { promptTokens, trainingTokens } from '../../../src/engine/tokens.js'
import { decodedText } from './support.js'

const question = (content: string) => ({ role: 'user', content })
const example = (asked: string, answer: string): SftExample =>
  trainingTokens([question(asked), { role: 'assistant', content: answer }], 'all')

const EXAMPLES = Array.from({ length: 64 }, (_, index) =>
  index % 2 === 0 ? example('ping', 'pong') : example('up', 'down'),
)
/** Of examples with trainable tokens. */
const lossOf = (state: ModelState, examples: readonly SftExample[]): number => meanLoss(state, examples)!

const BATCH = 4
const BATCHES_OF_JOB = 4
const EPOCHS = 4
const PEAK = 3e-3

const greedyAnswer = (state: ModelState, content: string): string => {
  const options = { temperature: 0, topP: 1, seed: 1, maxTokens: 20 }
  return decodedText([...sample(state, promptTokens([question(content)]), options)].map(({ token }) => token))
}

describe('supervised fine-tuning', () => {
  const base = baseState('tiny/byte')
  const batch = EXAMPLES.slice(0, BATCH)

  it('learns two answers over several jobs', () => {
    const steps = (EXAMPLES.length / BATCH) * EPOCHS
    const rate = (step: number): number =>
      PEAK * Math.min(1, (step + 1) / (0.1 * steps), (steps - step) / (0.9 * steps))
    let state = base
    for (let first = 0; first < steps; first += BATCHES_OF_JOB) {
      const job = startSft(state)
      for (let step = first; step < first + BATCHES_OF_JOB; step += 1) {
        const start = (step * BATCH) % EXAMPLES.length
        job.step(EXAMPLES.slice(start, start + BATCH), rate(step))
      }
      state = job.state()
    }
    assert.equal(greedyAnswer(state, 'ping'), 'pong')
    assert.equal(greedyAnswer(state, 'up'), 'down')
    assert.equal(state.updates, steps)
  })

  it('reports the metrics of a step', () => {
    const long = { tokens: Array<number>(513).fill(65), mask: Array<boolean>(513).fill(true) }
    const training = startSft(base)
    const metrics = training.step([...batch, long], 1e-3)
    assert.ok(Math.abs(metrics.loss - lossOf(base, batch)) < 1e-9)
    assert.ok(metrics.grad_norm > 0)
    assert.deepEqual(metrics, {
      loss: metrics.loss,
      grad_norm: metrics.grad_norm,
      learning_rate: 1e-3,
      num_trajectories: 4,
      num_tokens: batch.reduce((sum, { tokens }) => sum + tokens.length, 0),
      num_trainable_tokens: 20,
      num_dropped_trajectories: 1,
    })
    assert.ok(lossOf(training.state(), batch) < metrics.loss)
  })

  it('changes nothing at learning rate 0, nor without trainable tokens', () => {
    const training = startSft(base)
    training.step(batch, 0)
    const { grad_norm, loss } = training.step([{ tokens: [1, 2], mask: [true, false] }], 1e-3)
    assert.deepEqual([grad_norm, loss], [0, 0])
    training.step([], 1e-3)
    assert.deepEqual(training.state(), base)
  })

  it('gives equal checkpoints for equal input', () => {
    const trained = (): Uint8Array => {
      const training = startSft(base)
      for (let step = 0; step < 3; step += 1) training.step(EXAMPLES.slice(step, step + 9), 1e-3)
      return encodeCheckpoint(training.state())
    }
    assert.deepEqual(trained(), trained())
  })

  it('learns the same whether or not examples share a batch of the network', () => {
    const examples = [400, 300, 200, 100].map((length) => example('x'.repeat(length), 'answer'))
    const together = lossOf(base, examples)
    const alone = examples.map((one) => lossOf(base, [one]))
    assert.ok(Math.abs(together - alone.reduce((sum, loss) => sum + loss, 0) / alone.length) < 1e-6)
  })

  it('throws instead of producing weights that are not finite', () => {
    const training = startSft(base)
    assert.throws(() => {
      for (let step = 0; step < 5; step += 1) training.step(batch, 1e30)
    }, TrainingDiverged)
    const infinite = startSft(base)
    infinite.step(batch, 1e300)
    assert.throws(() => infinite.state(), TrainingDiverged)
  })

  it('refuses tokens outside of the vocabulary and masks of another length', () => {
    assert.throws(
      () => startSft(base).step([{ tokens: [1, 264], mask: [true, true] }], 1e-3),
      SequenceInvalid,
    )
    assert.throws(() => startSft(base).step([{ tokens: [1, 2], mask: [true] }], 1e-3), SequenceInvalid)
  })
})
