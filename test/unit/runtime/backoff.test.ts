import assert from 'node:assert/strict'
import { backoff } from '../../../src/runtime/backoff.js'

const elapsed = async (wait: () => Promise<void>): Promise<number> => {
  const start = performance.now()
  await wait()
  return performance.now() - start
}

describe('the back-off between retries', () => {
  it('doubles with each failure, up to its limit', async () => {
    const options = { firstMs: 20, maxMs: 100 }
    assert.ok((await elapsed(() => backoff(1, options))) >= 19)
    assert.ok((await elapsed(() => backoff(3, options))) >= 79)
    const limited = await elapsed(() => backoff(2000, options))
    assert.ok(limited >= 99 && limited < 5000)
  })

  it('ends early, without an error, when its signal is aborted', async () => {
    const signal = AbortSignal.timeout(10)
    assert.ok((await elapsed(() => backoff(1, { firstMs: 60_000, maxMs: 60_000, signal }))) < 30_000)
  })
})
