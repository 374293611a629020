import assert from 'node:assert/strict'
import { acceptanceEnvironment } from '../support/upstreams/acceptance.js'
import { startPythonSdk } from './python-sdk.js'

describe('the Python packages openai and anthropic', () => {
  it('get what an upstream answers in each API, its errors and what is recorded too', async () => {
    const sdk = await startPythonSdk({ TALLYTREE_UPSTREAM_ALLOW_CIDRS: '127.0.0.0/8' })
    try {
      const { address, key } = sdk.service
      const environment = await acceptanceEnvironment(address, key)
      assert.match(await sdk.ran('gateway_acceptance.py', [], environment), /^[1-9]\d* passed, 0 failed$/)
    } finally {
      await sdk.stop()
    }
  })
})
