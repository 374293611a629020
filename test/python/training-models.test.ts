import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { pythonIn, startPythonSdk } from './python-sdk.js'

const ENVIRONMENT = '.venv-art'

/** The package needs Python 3.12; `test/python/install` looks for it. */
const itWithArt = existsSync(pythonIn(ENVIRONMENT)) ? it : it.skip

describe('the package openpipe-art', () => {
  itWithArt('trains a model that answers', async () => {
    const sdk = await startPythonSdk({}, ENVIRONMENT)
    try {
      const { address } = sdk.proxy
      const seen = await sdk.printed<object>('training_models.py', [address, sdk.service.key])
      assert.deepEqual(seen, {
        steps: Array.from({ length: 14 }, (_, step) => step),
        rises: true,
        answers: ['pong', 'down'],
        kept: true,
      })
    } finally {
      await sdk.stop()
    }
  })
})
