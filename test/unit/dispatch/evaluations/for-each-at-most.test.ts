import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { forEachAtMost } from '../../../../src/dispatch/evaluations/for-each-at-most.js'

async function* numbers(count: number, fails = false) {
  for (let item = 0; item < count; item += 1) yield item
  await Promise.resolve()
  if (fails) throw new Error('no more items')
}

describe('for each at most', () => {
  it('starts tasks in order, never more than the limit at a time', async () => {
    const started: number[] = []
    let running = 0
    let most = 0
    await forEachAtMost(3, numbers(20), async (item) => {
      started.push(item)
      running += 1
      most = Math.max(most, running)
      await sleep(item % 3)
      running -= 1
    })
    assert.deepEqual(started, [...Array(20).keys()])
    assert.deepEqual([most, running], [3, 0])
  })

  it('rejects with the first failure once no task runs', async () => {
    let running = 0
    const failing = forEachAtMost(4, numbers(100), async (item) => {
      running += 1
      await sleep(1)
      running -= 1
      if (item >= 5) throw new Error(`item ${item}`)
    })
    await assert.rejects(failing, { message: 'item 5' })
    assert.equal(running, 0)
  })

  it('rejects once no task runs when the items fail', async () => {
    let running = 0
    const failing = forEachAtMost(4, numbers(2, true), async () => {
      running += 1
      await sleep(5)
      running -= 1
    })
    await assert.rejects(failing, { message: 'no more items' })
    assert.equal(running, 0)
  })
})
