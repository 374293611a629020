import assert from 'node:assert/strict'
import { backoff, retry } from '../../../src/kernel/backoff.js'

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

describe('a task that is retried', () => {
  const options = { firstMs: 1, maxMs: 1 }
  const failing = (times: number) => {
    let tries = 0
    return () => {
      tries += 1
      if (tries <= times) throw new Error(`failure ${tries}`)
      return tries
    }
  }

  it('is repeated while the error may pass', async () => {
    const seen: unknown[] = []
    const again = (error: unknown, tries: number) => seen.push([(error as Error).message, tries]) > 0
    assert.equal(await retry(failing(2), again, options), 3)
    assert.deepEqual(seen, [
      ['failure 1', 1],
      ['failure 2', 2],
    ])
  })

  it('fails with the last error, or with the one that replaces it', async () => {
    await assert.rejects(
      retry(failing(5), (_, tries) => tries < 2, options),
      /failure 2/,
    )
    const replace = (cause: unknown): boolean => {
      throw new Error('replaced', { cause })
    }
    await assert.rejects(retry(failing(5), replace, options), /replaced/)
  })
})
