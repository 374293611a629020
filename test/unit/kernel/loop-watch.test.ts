import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
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

  it('names a request that holds the loop while sockets are read, and no other', async () => {
    const held: (readonly string[])[] = []
    const { begin } = watchLoop((_, where) => held.push(where))
    const server = createServer((_, response) => {
      const end = begin(() => 'GET /slow')
      response.once('close', end)
      hold(200)
      response.end()
    }).listen(0)
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    await (await fetch(`http://127.0.0.1:${port}/`)).text()
    await later(200)
    server.close()
    assert.deepEqual(held, [['GET /slow']])
  })

  it('has no timer when nothing works', async () => {
    const { begin } = watchLoop(() => undefined)
    for (let count = 0; count < 100; count += 1) begin(() => 'GET /')()
    await later(200)
    let started = 0
    const hook = createHook({
      init: (_, type) => {
        if (type === 'Timeout' && new Error().stack?.includes('src/kernel/loop-watch') === true) started += 1
      },
    }).enable()
    await later(200)
    assert.equal(started, 0)
    begin(() => 'GET /')()
    assert.equal(started, 1)
    hook.disable()
  })
})
