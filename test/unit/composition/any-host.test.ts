import assert from 'node:assert/strict'
import { startTestService } from '../../support/service.js'

describe('a start without a public address', () => {
  const warningsAt = async (environment: Record<string, string>): Promise<number> => {
    const service = await startTestService(environment)
    await service.stop()
    return service.logged.filter(({ event }) => event === 'http.any_host').length
  }

  it('warns once when it listens on more than the loopback address', async () => {
    assert.equal(await warningsAt({ TALLYTREE_HOST: '0.0.0.0' }), 1)
    assert.equal(await warningsAt({ TALLYTREE_HOST: '127.0.0.1' }), 0)
    const set = { TALLYTREE_HOST: '0.0.0.0', TALLYTREE_PUBLIC_URL: 'https://traces.example' }
    assert.equal(await warningsAt(set), 0)
  })
})
