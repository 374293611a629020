import assert from 'node:assert/strict'
import {
  aliasAdded,
  automationCreated,
  COLLECTION,
  startDispatching,
  webhookCreated,
  type Dispatching,
} from '../../support/dispatching.js'
import { until } from '../../support/until.js'
import { COUNTS } from '../../counts.js'
import { answers, hangs } from '../../support/receivers/behaviours.js'
import { startReceiver, type Receiver } from '../../support/receivers/receiver.js'

const EVENTS = COUNTS.slowEndpointEvents

const FAST = 49

describe('an endpoint that takes its time beside 49 that do not', () => {
  let log: Dispatching
  let slow: Receiver
  let fast: Receiver
  const addedAt = new Map<string, number>()
  const took: number[] = []
  before(async () => {
    log = await startDispatching()
    slow = await startReceiver(hangs)
    fast = await startReceiver(
      (socket, received) => {
        const { alias } = JSON.parse(received.body.toString()) as { alias: string }
        took.push(performance.now() - addedAt.get(alias)!)
        answers(200)(socket, received)
      },
      { address: '0.0.0.0' },
    )
    for (let at = 0; at < FAST; at += 1) {
      // Every loopback address is a host of its own.
      await log.append(`webhook-f-${at}`, webhookCreated(`f-${at}`, `http://127.0.1.${at + 1}:${fast.port}/`))
      await log.append(`automation-f-${at}`, automationCreated(`f-${at}`, `f-${at}`))
    }
    const { caughtUp } = await log.start()
    await caughtUp
  })
  after(async () => {
    await slow.stop()
    await log.stop()
    await fast.stop()
  })

  /** Milliseconds from an event to what is told of it, for 99 of 100. */
  const p99 = async (name: string): Promise<number> => {
    took.length = 0
    for (let at = 0; at < EVENTS; at += 1) {
      addedAt.set(`${name}-${at}`, performance.now())
      await log.append(COLLECTION, aliasAdded(`${name}-${at}`))
      await until(() => took.length === FAST * (at + 1))
    }
    return took.toSorted((a, b) => a - b)[Math.floor(0.99 * took.length)]!
  }

  it('holds up none of them: all of theirs arrive before its first one is over', async () => {
    await p99('warm')
    const without = await p99('without')
    await log.append('webhook-s', webhookCreated('s', slow.url, { timeout_s: 30 }))
    await log.append('automation-s', automationCreated('s', 's'))
    await log.append(COLLECTION, aliasAdded('warm-0'))
    await until(() => slow.received.length === 1 && took.length === FAST * (EVENTS + 1))
    const beside = await p99('beside')
    const ended = (await log.deliveryEvents()).filter(({ type }) => type === 'AttemptFinished')
    const ofSlow = (await log.deliveryEvents()).filter(({ data }) => data['webhook_id'] === 's')
    assert.ok(ofSlow.length > EVENTS)
    const slowIds = new Set(ofSlow.map(({ stream }) => stream))
    assert.ok(ended.every(({ stream }) => !slowIds.has(stream)))
    console.log(`      p99 without it ${without.toFixed(1)} ms, beside it ${beside.toFixed(1)} ms`)
  })
})
