import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { openInMemoryBlobStore } from '../../../../src/adapters/blobs/in-memory-blob-store.js'
import { baseState, encodeCheckpoint } from '../../../../src/engine/checkpoint.js'
import { startEngine, type Engine } from '../../../../src/engine/engine.js'
import { withEngine } from '../../../../src/gateway/training/engine-upstream.js'
import { ENGINE_ADDRESS } from '../../../../src/gateway/training/trained-targets.js'

describe('the engine as an upstream', () => {
  let engine: Engine
  before(() => {
    engine = startEngine()
  })
  after(() => engine.stop())

  it('says what is wrong with a model that cannot answer', async () => {
    const blobs = openInMemoryBlobStore()
    const client = withEngine(
      { blobs, ids: { next: randomUUID }, clock: { now: () => new Date() } },
      engine,
      { ask: () => assert.fail('the engine was not asked'), close: async () => undefined },
    )
    const asked = (model: string, stream: boolean) =>
      client.ask({
        url: `${ENGINE_ADDRESS}/chat/completions`,
        headers: {},
        body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'x' }], max_tokens: 2 }),
        timeouts: { connect_ms: 1, first_byte_ms: 1, idle_ms: 1, total_ms: 1 },
        isGuarded: false,
        isFresh: false,
      })
    const state = baseState('tiny/byte')
    const weights = state.weights.map((weight) => weight * 1e30)
    const broken = await blobs.put(encodeCheckpoint({ ...state, weights }))
    const garbage = await blobs.put(Buffer.from('garbage'))
    for (const stream of [true, false]) {
      const failure = { name: 'Failure', kind: 'upstream-failed' }
      await assert.rejects(asked(`checkpoint:${broken}`, stream), {
        ...failure,
        reason: 'The logits of the model are not finite.',
      })
      await assert.rejects(asked(`checkpoint:${garbage}`, stream), {
        ...failure,
        reason: 'The file is not a checkpoint of this engine.',
      })
    }
  })
})
