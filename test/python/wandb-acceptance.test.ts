import assert from 'node:assert/strict'
import { startPythonSdk, wandbVersions } from './python-sdk.js'

describe('the acceptance program of the package wandb', () => {
  for (const version of wandbVersions)
    it(`passes with ${version}, and receives each of its eight messages once`, async () => {
      const sdk = await startPythonSdk(
        { TALLYTREE_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' },
        `.venv-wandb-${version}`,
      )
      try {
        const passed = await sdk.ran('wandb_acceptance.py', [], {
          TALLYTREE_URL: sdk.proxy.address,
          TALLYTREE_API_KEY: sdk.service.key,
          EVENTS: '1',
        })
        assert.ok(passed.startsWith(`all assertions hold: ${version} default/`), passed)
      } finally {
        await sdk.stop()
      }
    })
})
