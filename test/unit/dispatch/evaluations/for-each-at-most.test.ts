import assert from 'node:assert/strict'
import { forEachAtMost } from '../../../../src/dispatch/evaluations/for-each-at-most.js'

describe('forEachAtMost', () => {
  it('runs every task, at most the given number at a time', async () => {
    let running = 0
    let most = 0
    const done: number[] = []
    await forEachAtMost(3, itemsUpTo(10), async (item) => {
      running += 1
      most = Math.max(most, running)
      await new Promise(setImmediate)
      running -= 1
      done.push(item)
    })
    assert.equal(most, 3)
    assert.deepEqual(
      done.sort((a, b) => a - b),
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    )
  })

  it('rejects with the failure of a task and starts no further ones', async () => {
    const started: number[] = []
    await assert.rejects(
      forEachAtMost(1, itemsUpTo(10), async (item) => {
        started.push(item)
        if (item === 2) throw new Error('the task failed')
      }),
      /the task failed/,
    )
    assert.ok(started.length < 10)
  })

  it('rejects with the failure of the source only after its tasks have ended', async () => {
    let ended = 0
    const failing = async function* () {
      yield* [1, 2, 3]
      throw new Error('the source failed')
    }
    await assert.rejects(
      forEachAtMost(10, failing(), async () => {
        await new Promise(setImmediate)
        ended += 1
      }),
      /the source failed/,
    )
    assert.equal(ended, 3)
  })
})

async function* itemsUpTo(count: number) {
  for (let item = 0; item < count; item += 1) yield item
}
