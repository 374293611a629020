import assert from 'node:assert/strict'
import { openInMemoryEventStore } from '../../../src/adapters/event-store/in-memory.js'
import { aliasAdded, COLLECTION, startDispatching, type Dispatching } from '../../support/dispatching.js'
import { until } from '../../support/until.js'
import { COUNTS } from '../../counts.js'
import { after as later, answers } from '../../support/receivers/behaviours.js'
import { startReceiver, type Receiver } from '../../support/receivers/receiver.js'
import { virtualClock } from '../../support/virtual-clock.js'

const WAITING = COUNTS.waitingDeliveries

const FIRST_LIMIT = 4
const MOST_AT_ONCE = 16

describe('an endpoint that comes back', () => {
  const clock = virtualClock()
  let log: Dispatching
  let receiver: Receiver
  before(async () => {
    log = await startDispatching(openInMemoryEventStore(clock.millis))
    receiver = await startReceiver(answers(500))
  })
  after(async () => {
    await log.stop()
    await receiver.stop()
  })

  /** Deliveries by when they were scheduled. */
  const order = new Map<string, number>()
  const read = async () => {
    const events = await log.deliveryEvents()
    const scheduled = events.filter(({ type }) => type === 'DeliveryScheduled')
    scheduled.forEach(({ data }, place) => order.set(data['delivery_id'] as string, place))
    const count = (wanted: string) => events.filter(({ type }) => type === wanted).length
    return { scheduled: scheduled.length, open: count('AttemptStarted') - count('AttemptFinished') }
  }
  const later30s = async (factor: number) => {
    clock.advance(30_000 * factor)
    // Any event of the webhook makes the dispatcher look at what is due.
    await log.append('webhook-w', { type: 'TestSent', data: { id: 'w', team: 'default', duration_ms: 1 } })
  }

  it(`has ${WAITING} messages drained as it bears them, oldest first after a single probe`, async () => {
    await log.addWebhook(receiver.url, { retry_waits_s: [3600, 3600] })
    const { caughtUp } = await log.start({ clock })
    await caughtUp
    for (let index = 0; index < WAITING; index += 100)
      await log.append(COLLECTION, ...Array.from({ length: 100 }, (_, at) => aliasAdded(`v-${index + at}`)))
    await until(async () => (await read()).scheduled === WAITING)
    await until(() => receiver.received.length >= 10)
    await until(async () => (await read()).open === 0)
    const failed = receiver.received.length
    assert.ok(failed >= 10 && failed < 10 + FIRST_LIMIT, `${failed}`)

    // A probe that fails is one message, and then none for twice as long.
    await later30s(1)
    await until(() => receiver.received.length === failed + 1)
    await until(async () => (await read()).open === 0)
    await later30s(1)

    let inFlight = 0
    const atOnce: number[] = []
    receiver.behave((socket, received) => {
      inFlight += 1
      atOnce.push(inFlight)
      later(10, (...given) => {
        inFlight -= 1
        answers(200)(...given)
      })(socket, received)
    })
    await later30s(1)
    await until(() => receiver.received.length === WAITING + failed + 1, 300_000)
    await until(async () => (await read()).open === 0)

    const placesOf = (from: number, to?: number) =>
      receiver.received.slice(from, to).map(({ headers }) => order.get(headers['webhook-id']!)!)
    const tried = new Set(placesOf(0, failed))
    const came = placesOf(failed)
    const newest = [WAITING - 1, WAITING - 2]
    assert.deepEqual(came.slice(0, 2), newest, 'a probe is the newest that was not attempted')
    assert.equal(came.length, WAITING + 1)
    assert.equal(new Set(came).size, WAITING)
    assert.equal(atOnce[1], 1, 'nothing comes beside a probe')
    assert.ok(Math.max(...atOnce.slice(0, FIRST_LIMIT + 1)) <= FIRST_LIMIT)
    assert.ok(Math.max(...atOnce) <= MOST_AT_ONCE)

    const isRetry = (place: number) => tried.has(place) || place === came[0]
    for (const turn of [came.slice(2).filter(isRetry), came.slice(2).filter((place) => !isRetry(place))])
      turn.forEach((place, index) => {
        const passed = turn.slice(index + 1).filter((later) => later < place).length
        assert.ok(passed < MOST_AT_ONCE, `${passed} older ones came behind the one at ${index}`)
      })
    console.log(`      ${JSON.stringify({ waiting: WAITING, failed, mostAtOnce: Math.max(...atOnce) })}`)
  })
})
