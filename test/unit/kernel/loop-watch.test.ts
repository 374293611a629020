import assert from 'node:assert/strict'
import { setTimeout as later } from 'node:timers/promises'
import { watchLoop } from '../../../src/kernel/loop-watch.js'

const hold = (ms: number) => {
  const until = performance.now() + ms
  while (performance.now() < until);
}

describe('the watch of the event loop', () => {
  it('reports a step that holds the loop, with the works in progress', async () => {
    const held: [number, readonly string[]][] = []
    const { begin } = watchLoop((seconds, where) => held.push([seconds, where]))
    const endOther = begin(() => 'GET /other')
    const end = begin(() => 'POST /slow')
    hold(400)
    end()
    await later(100)
    endOther()
    const [first] = held
    assert.deepEqual(first?.[1], ['POST /slow', 'GET /other'])
    assert.ok(first[0] >= 0.3)
  })

  it('has no timer when nothing works', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = timers()
    const { begin } = watchLoop(() => undefined)
    for (let count = 0; count < 100; count += 1) begin(() => 'GET /')()
    await later(200)
    assert.ok(timers() <= before)
  })
})
