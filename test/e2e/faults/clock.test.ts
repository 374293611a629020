import assert from 'node:assert/strict'
import { openInMemoryEventStore } from '../../../src/adapters/event-store/in-memory.js'
import type { EventStore } from '../../../src/kernel/ports/event-store.js'
import { aliasAdded, COLLECTION, startDispatching, type Dispatching } from '../../support/dispatching.js'
import { until } from '../../support/until.js'
import { after as later, answers, dependingOn } from '../../support/receivers/behaviours.js'
import { startReceiver, type Receiver } from '../../support/receivers/receiver.js'
import { virtualClock } from '../../support/virtual-clock.js'

const HOUR = 3600_000

describe("a dispatcher whose machine's clock jumps", () => {
  const clock = virtualClock()
  let log: Dispatching
  let receiver: Receiver
  let isWell = false
  before(async () => {
    log = await startDispatching(openInMemoryEventStore(clock.millis))
    receiver = await startReceiver(
      dependingOn(({ body }) => answers(isWell || !body.includes('"failing"') ? 200 : 500)),
    )
    await log.addWebhook(receiver.url, { retry_waits_s: [600, 600] })
    const { caughtUp } = await log.start({ clock })
    await caughtUp
  })
  after(async () => {
    await log.stop()
    await receiver.stop()
  })

  const ended = (count: number) =>
    until(
      async () =>
        (await log.deliveryEvents()).filter(({ type }) => type === 'AttemptFinished').length >= count,
    )
  const arrived = () =>
    receiver.received.map(({ body }) => (JSON.parse(body.toString()) as { alias: string }).alias)

  it('sends what is new at once, and once what waited for a time that came twice', async () => {
    await log.append(COLLECTION, aliasAdded('failing'))
    await ended(1)
    clock.advance(-HOUR)
    await log.append(COLLECTION, aliasAdded('behind'))
    await ended(2)
    clock.advance(HOUR + 300_000)
    await log.append(COLLECTION, aliasAdded('before'))
    await ended(3)
    isWell = true
    clock.advance(500_000)
    await log.append(COLLECTION, aliasAdded('after'))
    await ended(5)
    assert.deepEqual([...new Set(arrived())].slice(0, 3), ['failing', 'behind', 'before'])
    assert.deepEqual(arrived().toSorted(), ['after', 'before', 'behind', 'failing', 'failing'])
  })

  it('waits no less than it should, whichever way the clock goes while an attempt is under way', async () => {
    let expected = 4
    for (const jump of [-HOUR, HOUR]) {
      expected += 1
      receiver.behave((socket, received) => {
        clock.advance(jump)
        answers(500)(socket, received)
      })
      await log.append(COLLECTION, aliasAdded('failing'))
      const firstEnd = async () => {
        const events = await log.deliveryEvents()
        const { stream } = events.findLast(({ type }) => type === 'DeliveryScheduled')!
        return events.find((event) => event.stream === stream && event.type === 'AttemptFinished')
      }
      const scheduled = async () =>
        (await log.deliveryEvents()).filter(({ type }) => type === 'DeliveryScheduled').length
      await until(async () => (await scheduled()) === expected)
      await until(async () => (await firstEnd()) !== undefined)
      const finished = (await firstEnd())!
      const wait = Date.parse(finished.data['next_at'] as string) - finished.recordedAt.getTime()
      assert.equal(finished.data['outcome'], 'retry')
      assert.ok(wait > 0.79 * 600_000 && wait <= 1.2 * 600_000, `${wait}`)
    }
  })

  it('sends what is due though the clock goes back meanwhile', async () => {
    const due = Array.from({ length: 20 }, (_, n) => `v-${n}`)
    const come = () => arrived().filter((alias) => due.includes(alias)).length
    receiver.behave(later(100, answers(200)))
    await log.append(COLLECTION, ...due.map((alias) => aliasAdded(alias)))
    await until(() => come() > 0)
    clock.advance(-HOUR)
    await until(() => come() === due.length)
    clock.advance(HOUR)
  })
})

describe('a clock that is set back while messages wait', () => {
  const DAY = 24 * HOUR
  const cases = [
    ['a retry', answers(500), -HOUR],
    ['a retry', answers(500), -10 * DAY],
    ['a Retry-After', answers(429, { 'retry-after': '2' }), -HOUR],
    ['a Retry-After', answers(429, { 'retry-after': '2' }), -10 * DAY],
  ] as const
  for (const [what, behaviour, jump] of cases)
    it(`delays ${what} no further when it goes back ${-jump / HOUR} hours`, async () => {
      const clock = virtualClock()
      const log = await startDispatching(openInMemoryEventStore(clock.millis))
      const receiver = await startReceiver(behaviour)
      await log.addWebhook(receiver.url, { retry_waits_s: [2, 2] })
      await (
        await log.start({ clock })
      ).caughtUp
      await log.append(COLLECTION, aliasAdded('one'))
      const finished = async () =>
        (await log.deliveryEvents()).filter(({ type }) => type === 'AttemptFinished')
      await until(async () => (await finished()).length === 1)
      receiver.behave(answers(200))
      clock.advance(jump)
      await until(async () => (await finished()).length === 2, 8000)
      await log.stop()
      await receiver.stop()
    })
})

describe('a breaker that one message keeps open', () => {
  it('closes with a new message while the older ones still fail', async () => {
    const clock = virtualClock()
    const log = await startDispatching(openInMemoryEventStore(clock.millis))
    let isDown = true
    const receiver = await startReceiver(
      dependingOn(({ body }) => answers(isDown || body.includes('"bad') ? 500 : 200)),
    )
    await log.addWebhook(receiver.url, { retry_waits_s: [1, 1, 1] })
    await (
      await log.start({ clock })
    ).caughtUp
    const finished = async () => (await log.deliveryEvents()).filter(({ type }) => type === 'AttemptFinished')
    await log.append(COLLECTION, ...Array.from({ length: 12 }, (_, n) => aliasAdded(`bad-${n}`)))
    await until(async () => (await finished()).length >= 10)
    isDown = false
    clock.advance(31_000)
    await log.append(COLLECTION, aliasAdded('good'))
    await until(async () => (await finished()).some(({ data }) => data['outcome'] === 'succeeded'), 5000)
    await log.stop()
    await receiver.stop()
  })
})

describe('an attempt that the log took before the clock went forward', () => {
  it('has its time all the same', async () => {
    const clock = virtualClock()
    const itself = openInMemoryEventStore(clock.millis)
    const append: EventStore['append'] = async (stream, expected, events) => {
      const appended = await itself.append(stream, expected, events)
      if (events.some(({ type }) => type === 'AttemptStarted')) clock.advance(60_000)
      return appended
    }
    const log = await startDispatching({ ...itself, append })
    const receiver = await startReceiver(later(50, answers(200)))
    await log.addWebhook(receiver.url, { retry_waits_s: [] })
    await (
      await log.start({ clock })
    ).caughtUp
    await log.append(COLLECTION, aliasAdded('one'))
    const end = async () => (await log.deliveryEvents()).find(({ type }) => type === 'AttemptFinished')
    await until(async () => (await end()) !== undefined)
    assert.equal((await end())?.data['outcome'], 'succeeded')
    await log.stop()
    await receiver.stop()
  })
})
