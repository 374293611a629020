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
