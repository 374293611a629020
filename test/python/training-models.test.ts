import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { FOLDER, pythonIn, startPythonSdk } from './python-sdk.js'

const ENVIRONMENT = '.venv-art'

/** The package needs Python 3.12; `test/python/install` looks for it. */
const itWithArt = existsSync(pythonIn(ENVIRONMENT)) ? it : it.skip

describe('the package openpipe-art', () => {
  const trains = async (environment: Readonly<Record<string, string>>) => {
    const sdk = await startPythonSdk({}, ENVIRONMENT)
    try {
      const { address } = sdk.proxy
      const seen = await sdk.printed<object>('training_models.py', [address, sdk.service.key], environment)
      assert.deepEqual(seen, {
        steps: Array.from({ length: 14 }, (_, step) => step),
        rises: true,
        answers: ['pong', 'down'],
        kept: true,
      })
    } finally {
      await sdk.stop()
    }
  }

  itWithArt('trains a model that answers', () => trains({}))

  itWithArt('does so with wandb 0.28.0', () =>
    trains({ PYTHONPATH: join(FOLDER, ENVIRONMENT, 'wandb-0.28.0') }),
  )
})
