import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { keptAlive } from '../../../../src/gateway/completions/keep-alive.js'

/** No other timer of this process has this delay. */
const EVERY_MS = 7

describe('keeping a stream alive', () => {
  it('sets no timer any more when an event comes after the reader has left', async () => {
    let arrive = (): void => undefined
    const arrived = new Promise<void>((resolve) => (arrive = resolve))
    const source = async function* () {
      await arrived
      yield 'event'
    }
    const { setTimeout: set } = globalThis
    let timers = 0
    globalThis.setTimeout = ((...given: Parameters<typeof set>) => {
      if (given[1] === EVERY_MS) timers += 1
      return set(...given)
    }) as typeof set
    try {
      const events = keptAlive(Promise.resolve(source()), { headAfterMs: 60_000, everyMs: EVERY_MS }, String)
      const reader = events[Symbol.asyncIterator]()
      const pending = reader.next()
      const left = reader.return?.()
      arrive()
      await Promise.all([pending, left])
      const before = timers
      await sleep(50)
      assert.equal(timers, before)
    } finally {
      globalThis.setTimeout = set
    }
  })
})
