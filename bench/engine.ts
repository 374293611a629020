import { baseState } from '../src/engine/checkpoint.js'
import { sample } from '../src/engine/sample.js'
import { startSft } from '../src/engine/sft.js'
import { BASE_MODELS } from '../src/engine/shape.js'
import { VOCABULARY } from '../src/engine/tokens.js'

/**
 * Training and sampling with the engine, in tokens per second of one thread: batches of BATCH=8 examples of LENGTH=64
 * tokens, all trained, then samples of 200 tokens one after another. Figures are of CPU time, since a busy machine lends the
 * thread only a part of the time.
 */
const BATCH = Number(process.env['BATCH'] ?? 8)
const LENGTH = Number(process.env['LENGTH'] ?? 64)
const SECONDS = Number(process.env['SECONDS'] ?? 3)
const SAMPLED = 200

const tokensPerSecond = (run: () => number): number => {
  run()
  let tokens = 0
  const start = process.cpuUsage()
  for (;;) {
    tokens += run()
    const { user, system } = process.cpuUsage(start)
    const seconds = (user + system) / 1e6
    if (seconds >= SECONDS) return tokens / seconds
  }
}

const example = (number: number) => ({
  tokens: Array.from({ length: LENGTH }, (_, index) => (index * 7919 + number * 104_729) % VOCABULARY),
  mask: Array<boolean>(LENGTH).fill(true),
})

for (const baseModel of Object.keys(BASE_MODELS)) {
  const training = startSft(baseState(baseModel))
  const batch = Array.from({ length: BATCH }, (_, index) => example(index))
  const trained = tokensPerSecond(() => training.step(batch, 1e-4).num_tokens)
  const state = baseState(baseModel)
  let seed = 0
  const sampled = tokensPerSecond(() => {
    seed += 1
    return [...sample(state, [65], { temperature: 1, topP: 1, seed, maxTokens: SAMPLED })].length
  })
  console.log(`${baseModel}: trains ${trained.toFixed(0)} tokens/s, samples ${sampled.toFixed(0)} tokens/s`)
}
