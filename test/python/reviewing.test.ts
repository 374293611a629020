import assert from 'node:assert/strict'
import type { JsonObject } from '../../src/kernel/json/json.js'
import { startPythonSdk, type PythonSdk } from './python-sdk.js'

describe('annotation queues of the Python package', () => {
  let sdk: PythonSdk
  before(async () => (sdk = await startPythonSdk()))
  after(() => sdk.stop())

  it('are created, filled, reviewed and deleted', async () => {
    assert.deepEqual(await sdk.printed<JsonObject>('reviewing.py', ['team/reviews']), {
      added: [3, 0],
      again: [0, 1],
      items: [0, 1, 2],
      fields: ['inputs.question'],
      reviewed: ['completed', true],
      left: [
        [0, 1],
        [2, 3],
      ],
      stats: [[3, 1]],
      changed: ['Reviewed', 'Be kind'],
      listed: [true],
      selected: [0, 1, 2],
      deleted: true,
      remaining: ['Others'],
    })
  })
})
