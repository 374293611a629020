import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { openInMemoryEventStore } from '../../../src/adapters/event-store/in-memory.js'
import type { RecordedEvent } from '../../../src/kernel/ports/event-store.js'
import { aliasAdded, COLLECTION, startDispatching, type Dispatching } from '../../support/dispatching.js'
import { until } from '../../support/until.js'
import { answers } from '../../support/receivers/behaviours.js'
import { startReceiver, type Receiver } from '../../support/receivers/receiver.js'
import { virtualClock, type VirtualClock } from '../../support/virtual-clock.js'

const HOUR = 3600_000
const DAY = 24 * HOUR

describe('a webhook of which nothing but failures come', () => {
  let clock: VirtualClock
  let log: Dispatching
  let receiver: Receiver
  beforeEach(async () => {
    clock = virtualClock()
    log = await startDispatching(openInMemoryEventStore(clock.millis))
    receiver = await startReceiver(answers(500))
    await log.addWebhook(receiver.url)
    const { caughtUp } = await log.start({ clock })
    await caughtUp
  })
  afterEach(async () => {
    await log.stop()
    await receiver.stop()
  })

  const webhookEvents = async (): Promise<readonly RecordedEvent[]> => {
    const events: RecordedEvent[] = []
    for await (const event of log.eventStore.readStream('webhook-w')) events.push(event)
    return events
  }
  const disabled = async () => (await webhookEvents()).filter(({ type }) => type === 'WebhookDisabled')
  const outcomes = async () => {
    const counts: Record<string, number> = {}
    for (const { type, data } of await log.deliveryEvents()) {
      const name = type === 'AttemptFinished' ? (data['outcome'] as string) : type
      counts[name] = (counts[name] ?? 0) + 1
    }
    return counts
  }
  /** Adds one message, and waits for the end of an attempt of it or of one that waited longer. */
  const attempted = async (alias: string) => {
    const finished = async () => {
      const { succeeded = 0, retry = 0, dead = 0, AttemptStarted = 0 } = await outcomes()
      return { ended: succeeded + retry + dead, open: AttemptStarted - succeeded - retry - dead }
    }
    const before = (await finished()).ended
    await log.append(COLLECTION, aliasAdded(alias))
    await until(async () => {
      const { ended, open } = await finished()
      return ended > before && open === 0
    })
  }

  it('is reported after one hour and after one day, once each, and again when it fails anew', async () => {
    const reported = async () =>
      (await webhookEvents()).flatMap(({ type, data }) => (type === 'WebhookFailing' ? [data['hours']] : []))
    for (const [alias, hours, expected] of [
      ['first', 0, []],
      ['early', 0.9, []],
      ['hour', 0.2, [1]],
      ['later', 1, [1]],
      ['day', 23, [1, 24]],
      ['after', 5, [1, 24]],
    ] as const) {
      clock.advance(hours * HOUR)
      await attempted(alias)
      await until(async () => (await reported()).length === expected.length)
      assert.deepEqual(await reported(), expected, alias)
    }
    receiver.behave(answers(200))
    clock.advance(HOUR)
    await attempted('works')
    receiver.behave(answers(500))
    await until(async () => (await outcomes())['succeeded']! >= 1)
    await attempted('fails again')
    clock.advance(2 * HOUR)
    await attempted('and again')
    await until(async () => (await reported()).length === 3)
    assert.deepEqual(await reported(), [1, 24, 1])
  })

  it('is disabled after five days, not before; what comes is held, and sent once it is enabled', async () => {
    for (let hours = 0; hours < 120; hours += 12) {
      await attempted(`h-${hours}`)
      assert.deepEqual(await disabled(), [], `after ${hours} hours`)
      clock.advance(12 * HOUR)
    }
    await attempted('last')
    await until(async () => (await disabled()).length === 1)
    assert.equal((await disabled())[0]!.data['reason'], 'failing_for_days')

    const before = receiver.received.length
    receiver.behave(answers(200))
    for (let index = 0; index < 20; index += 1) await log.append(COLLECTION, aliasAdded(`held-${index}`))
    await until(async () => (await outcomes())['DeliveryScheduled'] === 31)
    clock.advance(10 * DAY)
    await log.append('webhook-w', { type: 'TestSent', data: { id: 'w', team: 'default', duration_ms: 1 } })
    await log.append(COLLECTION, aliasAdded('held-20'))
    await until(async () => (await outcomes())['DeliveryScheduled'] === 32)
    assert.equal(receiver.received.length, before)

    await log.append('webhook-w', { type: 'WebhookEnabled', data: { id: 'w', team: 'default' } })
    await until(async () => {
      const { succeeded = 0, dead = 0 } = await outcomes()
      return succeeded + dead === 32
    })
    const { succeeded, dead = 0, DeliveryCanceled = 0 } = await outcomes()
    assert.deepEqual({ succeeded, dead, DeliveryCanceled }, { succeeded: 32, dead: 0, DeliveryCanceled: 0 })
  })

  it('is not disabled when all messages are answered 422 for days', async () => {
    receiver.behave(answers(422))
    for (let days = 0; days < 6; days += 1) {
      if (days > 0) clock.advance(DAY)
      await attempted(`day-${days}`)
    }
    // Disabling is an append of its own, after the end of the attempt.
    await sleep(100)
    assert.deepEqual(await disabled(), [])
  })

  it('is not disabled when a 404 came between failures', async () => {
    for (let days = 0; days < 7; days += 1) {
      if (days > 0) clock.advance(DAY)
      receiver.behave(answers(days === 3 ? 404 : 500))
      await attempted(`day-${days}`)
    }
    await sleep(100)
    assert.deepEqual(await disabled(), [])
  })

  it('is left alone where one arrived in between', async () => {
    for (let hours = 0; hours <= 192; hours += 24) {
      receiver.behave(answers(hours === 96 ? 200 : 500))
      await attempted(`h-${hours}`)
      clock.advance(DAY)
    }
    assert.deepEqual(await disabled(), [])
  })
})
