import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { committing } from '../../../../src/dispatch/webhooks/committing.js'

describe('committing what was read', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
  afterEach(() => mock.timers.reset())

  /** Where so many things are to be written before the first commit, and nothing before those behind it. */
  const begun = (things: number) => {
    const written: number[] = []
    let left = things
    const commit = (most = Infinity): boolean => {
      written.push(Math.min(most, left))
      left = Math.max(0, left - most)
      return left === 0
    }
    return { written, stop: committing({ commit }) }
  }

  it('writes a few things at a time, with rests, and commits behind the last of them', () => {
    const { written } = begun(80)
    mock.timers.tick(100)
    assert.deepEqual(written, [32])
    mock.timers.tick(8)
    assert.deepEqual(written, [32, 32])
    mock.timers.tick(8)
    assert.deepEqual(written, [32, 32, 16])
    mock.timers.tick(99)
    assert.equal(written.length, 3)
    mock.timers.tick(1)
    assert.deepEqual(written, [32, 32, 16, 0])
  })

  it('writes all the rest at once where more comes than that', () => {
    const { written } = begun(10_000)
    mock.timers.tick(100)
    for (let rest = 0; rest < 64; rest += 1) mock.timers.tick(8)
    assert.deepEqual(written, [...Array.from({ length: 64 }, () => 32), 10_000 - 64 * 32])
  })

  it('ends when it is told to', () => {
    const { written, stop } = begun(80)
    mock.timers.tick(100)
    stop()
    mock.timers.tick(1000)
    assert.equal(written.length, 1)
  })
})
