import assert from 'node:assert/strict'
import { baseState, decodeCheckpoint, encodeCheckpoint } from '../../../src/engine/checkpoint.js'
import { startEngine, type Engine, type SampleRequest } from '../../../src/engine/engine.js'
import { CheckpointInvalid, EngineCrashed, EngineStopped, PromptTooLong } from '../../../src/engine/errors.js'
import type { Metrics, SampledChoiceToken, SftJob } from '../../../src/engine/protocol.js'
import { seedOfChoice } from '../../../src/engine/random.js'
import { sample } from '../../../src/engine/sample.js'
import { startSft } from '../../../src/engine/sft.js'
import { promptTokens, trainingTokens } from '../../../src/engine/tokens.js'
import { rlGroup, RL_OPTIONS } from './support.js'

const BASE_MODEL = 'tiny/byte'
const PROMPT = promptTokens([{ role: 'user', content: 'ping' }])
const EXAMPLE = trainingTokens(
  [
    { role: 'user', content: 'ping' },
    { role: 'assistant', content: 'pong' },
  ],
  'all',
)

const sftJob = (batches: number): SftJob => ({
  checkpoint: null,
  baseModel: BASE_MODEL,
  batches: Array.from({ length: batches }, () => ({ examples: [EXAMPLE], learningRate: 1e-3 })),
})

const request = (maxTokens: number, more: Partial<SampleRequest> = {}): SampleRequest => ({
  checkpoint: null,
  baseModel: BASE_MODEL,
  prompt: PROMPT,
  options: { temperature: 1, topP: 1, seed: 5, maxTokens },
  choices: 1,
  ...more,
})

const never = new AbortController().signal
const noHooks = { onStep: () => {}, signal: never }

const all = async (tokens: AsyncIterable<SampledChoiceToken>): Promise<readonly SampledChoiceToken[]> => {
  const received: SampledChoiceToken[] = []
  for await (const token of tokens) received.push(token)
  return received
}

describe('the threads of the engine', function () {
  let engine: Engine
  before(() => {
    engine = startEngine(new URL('./crashing-thread.ts', import.meta.url))
  })
  after(() => engine.stop())

  it('trains the same checkpoint as without a thread', async () => {
    const steps: Metrics[] = []
    const job = { ...sftJob(3), validation: [EXAMPLE] }
    const checkpoint = await engine.sft(job, { onStep: (step) => steps.push(step), signal: never })
    const training = startSft(baseState(BASE_MODEL))
    const losses = job.batches.map(({ examples, learningRate }) => training.step(examples, learningRate).loss)
    assert.deepEqual(
      steps.map(({ loss }) => loss),
      losses,
    )
    assert.ok(steps[2]!['validation_loss']! < losses[2]!)
    assert.deepEqual(Buffer.from(checkpoint), encodeCheckpoint(training.state()))
  })

  it('continues from a checkpoint', async () => {
    const first = await engine.sft(sftJob(2), noHooks)
    const second = await engine.sft({ ...sftJob(1), checkpoint: first }, noHooks)
    assert.deepEqual(second, await engine.sft(sftJob(3), noHooks))
  })

  it('runs a job of reinforcement learning', async () => {
    const groups = [rlGroup(baseState(BASE_MODEL), 'hello', 1)]
    const steps: Metrics[] = []
    const trained = await engine.rl(
      { checkpoint: null, baseModel: BASE_MODEL, groups, options: RL_OPTIONS },
      { onStep: (step) => steps.push(step), signal: never },
    )
    assert.equal(trained.gradientSteps, 1)
    assert.equal(steps.length, 1)
    assert.equal(decodeCheckpoint(trained.checkpoint).updates, 1)
  })

  it('samples the same tokens as without a thread', async () => {
    const { options } = request(20)
    assert.deepEqual(
      await all(engine.sample(request(20), never)),
      [...sample(baseState(BASE_MODEL), PROMPT, options)].map((token) => ({ choice: 0, ...token })),
    )
  })

  it('samples each choice with a seed of its own', async () => {
    const tokens = await all(engine.sample(request(8, { choices: 2 }), never))
    const [first, second] = [0, 1].map((index) =>
      tokens.filter(({ choice }) => choice === index).map(({ token }) => token),
    )
    assert.notDeepEqual(first, second)
    const later = await all(
      engine.sample(request(8, { options: { ...request(8).options, seed: seedOfChoice(5, 1) } }), never),
    )
    assert.deepEqual(
      second,
      later.map(({ token }) => token),
    )
  })

  it('interleaves two requests and loads their checkpoint once', async () => {
    let loads = 0
    const checkpoint = {
      key: 'shared',
      load: async () => {
        loads += 1
        return encodeCheckpoint(baseState(BASE_MODEL, 9))
      },
    }
    const order: string[] = []
    const read = async (name: string): Promise<void> => {
      for await (const { choice } of engine.sample(request(100, { checkpoint }), never))
        order.push(`${name}${choice}`)
    }
    await Promise.all([read('a'), read('b')])
    assert.equal(loads, 1)
    assert.ok(order.indexOf('b0') < order.lastIndexOf('a0'))
    assert.ok(order.indexOf('a0') < order.lastIndexOf('b0'))
  })

  it('reports the error of a failed load and loads again for the next request', async () => {
    const failure = new Error('no such checkpoint')
    const broken = { key: 'broken', load: () => Promise.reject(failure) }
    await assert.rejects(all(engine.sample(request(1, { checkpoint: broken }), never)), failure)
    const load = async () => encodeCheckpoint(baseState(BASE_MODEL))
    await all(engine.sample(request(1, { checkpoint: { key: 'broken', load } }), never))
  })

  it('reports errors by their class', async () => {
    await assert.rejects(
      all(engine.sample(request(1, { prompt: Array<number>(600).fill(65) }), never)),
      (error) => error instanceof PromptTooLong && /600 tokens.*512/.test(error.message),
    )
    await assert.rejects(engine.sft({ ...sftJob(1), baseModel: 'other' }, noHooks), CheckpointInvalid)
    const damaged = { key: 'damaged', load: async () => new Uint8Array(100) }
    await assert.rejects(all(engine.sample(request(1, { checkpoint: damaged }), never)), CheckpointInvalid)
  })

  it('cancels training between steps and runs the next job', async () => {
    const controller = new AbortController()
    const reason = new Error('cancelled by the user')
    let steps = 0
    const onStep = (): void => {
      steps += 1
      controller.abort(reason)
    }
    const hooks = { onStep, signal: controller.signal }
    await assert.rejects(engine.sft(sftJob(100_000), hooks), reason)
    await assert.rejects(engine.sft(sftJob(1), hooks), reason)
    await engine.sft(sftJob(1), noHooks)
    assert.equal(steps, 1)
  })

  it('cancels sampling, also when the consumer returns early', async () => {
    const controller = new AbortController()
    const tokens = engine.sample(request(400), controller.signal)[Symbol.asyncIterator]()
    assert.equal((await tokens.next()).done, false)
    controller.abort(new Error('gone'))
    await assert.rejects(async () => {
      while ((await tokens.next()).done !== true);
    }, /gone/)
    const left = engine.sample(request(400), never)[Symbol.asyncIterator]()
    await left.next()
    await left.return?.()
    assert.equal((await all(engine.sample(request(3), never))).length, 3)
  })

  it('rejects jobs of a crashed thread and starts it again', async () => {
    await assert.rejects(engine.sft({ ...sftJob(1), baseModel: 'crash' }, noHooks), EngineCrashed)
    await assert.rejects(all(engine.sample(request(1, { baseModel: 'crash' }), never)), EngineCrashed)
    await engine.sft(sftJob(1), noHooks)
    await all(engine.sample(request(1), never))
  })

  it('rejects running and further jobs once stopped', async () => {
    const stopped = startEngine()
    const running = stopped.sft(sftJob(100_000), noHooks)
    await Promise.all([stopped.stop(), assert.rejects(running, EngineStopped)])
    await assert.rejects(stopped.sft(sftJob(1), noHooks), EngineStopped)
  })
})
