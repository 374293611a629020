import assert from 'node:assert/strict'
import type { JsonObject } from '../../src/kernel/json/json.js'
import { startPythonSdk, type PythonSdk } from './python-sdk.js'

describe('fine-tuning with the Python package openai', () => {
  let sdk: PythonSdk
  before(async () => {
    sdk = await startPythonSdk()
  })
  after(() => sdk.stop())

  it('trains a model that answers', async () => {
    const { events, ...printed } = await sdk.printed<JsonObject>('fine_tuning.py', ['team/tuning'])
    assert.deepEqual(printed, {
      status: 'succeeded',
      answers: ['pong', 'down'],
      checkpoints: [64],
      listed: true,
    })
    assert.ok((events as number) >= 64)
  })
})
