import assert from 'node:assert/strict'
import { throttleFor } from '../../src/application/throttle.js'

const LAGGING = 10_000

describe('the throttling of writes', () => {
  it('lets writes pass while the read side keeps up', async () => {
    const throttle = throttleFor({ lagMs: () => 500, nextInsert: () => Promise.reject(new Error('waited')) })
    await throttle('team')
  })

  it('holds a write until inserts have caught up', async () => {
    let behind = 3
    const throttle = throttleFor({
      lagMs: () => (behind > 0 ? LAGGING : 0),
      nextInsert: () => Promise.resolve((behind -= 1) >= 0),
    })
    await throttle('team')
    assert.equal(behind, 0)
  })

  it('holds only the teams whose part of the projection lags', async () => {
    const held: string[] = []
    let lagMs = LAGGING
    const throttle = throttleFor({
      lagMs: (team) => (team === 'quiet' ? 0 : lagMs),
      nextInsert: () => {
        held.push('held')
        lagMs = 0
        return Promise.resolve(true)
      },
    })
    await throttle('quiet')
    assert.deepEqual(held, [])
    await throttle('noisy')
    assert.deepEqual(held, ['held'])
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
    await throttle('team')
    const first = waits
    for (let i = 0; i < 100; i += 1) await throttle('team')
    assert.ok(waits <= first + 1)

    moves = true
    for (const end of ended) end()
    await new Promise((resolve) => setTimeout(resolve, 10))
    const before = waits
    await throttle('team')
    assert.ok(waits > before)
  })
})
