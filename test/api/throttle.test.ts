import assert from 'node:assert/strict'
import { throttleFor } from '../../src/application/throttle.js'

const LAGGING = 10_000

describe('the throttling of writes', () => {
  it('lets writes pass while the read side keeps up', async () => {
    const throttle = throttleFor({ lagMs: () => 500, nextInsert: () => Promise.reject(new Error('waited')) })
    await throttle()
  })

  it('holds a write until inserts have caught up', async () => {
    let behind = 3
    const throttle = throttleFor({
      lagMs: () => (behind > 0 ? LAGGING : 0),
      nextInsert: () => Promise.resolve((behind -= 1) >= 0),
    })
    await throttle()
    assert.equal(behind, 0)
  })

  it('holds one write in vain, then none, and again when something is inserted', async () => {
    let waits = 0
    let moves = false
    const ended: (() => void)[] = []
    const throttle = throttleFor({
      lagMs: () => LAGGING,
      nextInsert: (timeoutMs) => {
        waits += 1
        if (moves) return new Promise((resolve) => setTimeout(() => resolve(true), 50))
        return new Promise((resolve) => {
          const timer = setTimeout(() => resolve(false), timeoutMs)
          ended.push(() => {
            clearTimeout(timer)
            resolve(true)
          })
        })
      },
    })
    await throttle()
    const first = waits
    for (let i = 0; i < 100; i += 1) await throttle()
    assert.ok(waits <= first + 1)

    moves = true
    for (const end of ended) end()
    await new Promise((resolve) => setTimeout(resolve, 10))
    const before = waits
    await throttle()
    assert.ok(waits > before)
  })
})
