import assert from 'node:assert/strict'
import { cleanupStack } from '../../../src/kernel/cleanup-stack.js'

describe('a cleanup stack', () => {
  it('runs its steps one after another, the last one added first', async () => {
    const cleanup = cleanupStack()
    const done: number[] = []
    for (const step of [1, 2, 3])
      cleanup.add(async () => {
        await Promise.resolve()
        done.push(step)
      })
    await cleanup.run()
    await cleanup.run()
    assert.deepEqual(done, [3, 2, 1])
  })

  it('runs the remaining steps when one fails, and rejects with its error', async () => {
    const cleanup = cleanupStack()
    const done: number[] = []
    cleanup.add(() => done.push(1))
    cleanup.add(() => Promise.reject(new Error('disk full')))
    cleanup.add(() => done.push(3))
    await assert.rejects(cleanup.run(), /disk full/)
    assert.deepEqual(done, [3, 1])
  })
})
