import assert from 'node:assert/strict'
import { yielding } from '../../../src/kernel/yield-to-event-loop.js'

describe('long computations that yield', () => {
  it('go on one per turn of the event loop when several wait', async () => {
    const log: string[] = []
    let isDone = false
    const turn = () => {
      log.push('turn')
      if (!isDone) setImmediate(turn)
    }
    setImmediate(turn)
    const compute = async (name: string) => {
      const pause = yielding()
      for (let slice = 0; slice < 3; slice += 1) {
        let paused = pause()
        while (paused === undefined) paused = pause()
        await paused
        log.push(name)
      }
    }
    await Promise.all(['a', 'b', 'c', 'd'].map(compute))
    isDone = true
    const resumed = log.filter((entry) => entry !== 'turn')
    assert.equal(resumed.length, 12)
    assert.deepEqual(resumed.slice(0, 4).sort(), ['a', 'b', 'c', 'd'])
    for (const [at, entry] of log.entries()) if (entry !== 'turn') assert.equal(log[at + 1] ?? 'turn', 'turn')
  })

  it('resume the one that has used the least CPU time first', async () => {
    let isDone = false
    let rounds = 0
    const long = Array.from({ length: 20 }, async () => {
      const pause = yielding()
      while (!isDone) {
        const paused = pause()
        if (paused === undefined) continue
        await paused
        rounds += 1
      }
    })
    while (rounds < 40) await new Promise((resolve) => setTimeout(resolve, 1))
    const pause = yielding()
    let paused = pause()
    while (paused === undefined) paused = pause()
    const before = rounds
    await paused
    assert.ok(rounds - before <= 2, `${rounds - before} others went on first`)
    isDone = true
    await Promise.all(long)
  })

  it('do not keep short ones waiting', async () => {
    let isDone = false
    const compute = async () => {
      const pause = yielding()
      while (!isDone) await pause()
    }
    const long = Promise.all([compute(), compute(), compute()])
    await new Promise((resolve) => setTimeout(resolve, 20))
    assert.equal(yielding()(), undefined)
    isDone = true
    await long
  })
})
