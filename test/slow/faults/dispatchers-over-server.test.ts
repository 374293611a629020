import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { openEventStoreDb } from '../../../src/adapters/event-store/eventstoredb/event-store-db.js'
import { sha256 } from '../../../src/adapters/system/system.js'
import { deliveryIdOf } from '../../../src/domain/webhooks/deliveries/id.js'
import type { EventStore, RecordedEvent } from '../../../src/kernel/ports/event-store.js'
import { aliasAdded, COLLECTION, startDispatching, type Dispatching } from '../../support/dispatching.js'
import { until } from '../../support/until.js'
import { COUNTS } from '../../counts.js'
import {
  startProtocolDouble,
  type ProtocolDouble,
} from '../../support/eventstoredb-protocol-double/double.js'
import { answers } from '../../support/receivers/behaviours.js'
import { startReceiver, type Behaviour, type Receiver } from '../../support/receivers/receiver.js'
import { virtualClock } from '../../support/virtual-clock.js'
import { eventsOf } from '../../support/faults/dispatching-log.js'

const ROUNDS = COUNTS.dispatchersOverServer

const EVENTS_A_ROUND = 40
const TIMEOUT_S = 10
const LEEWAY_MS = 2000
const GRACE_MS = 5000

describe('two dispatchers over one EventStoreDB (a protocol double)', () => {
  let double: ProtocolDouble
  let log: Dispatching
  let others: EventStore[]
  let receiver: Receiver
  beforeEach(async () => {
    double = await startProtocolDouble()
    log = await startDispatching(await openEventStoreDb(double.url))
    others = []
  })
  afterEach(async () => {
    await log.stop()
    for (const other of others) await other.close()
    await double.stop()
    await receiver.stop()
  })

  const connected = async () => {
    const store = await openEventStoreDb(double.url)
    others.push(store)
    return store
  }
  const given = async (behaviour: Behaviour) => {
    receiver = await startReceiver(behaviour)
    const waits = Array.from({ length: 32 }, () => 0.05)
    const content = { retry_waits_s: waits, timeout_s: TIMEOUT_S }
    await log.addWebhook(receiver.url, content)
  }
  const startTwo = async () => {
    for (const name of ['one', 'two']) {
      const { caughtUp } = await log.start({ name, isAlone: false, eventStore: await connected() })
      await caughtUp
    }
  }

  const faults: Readonly<Record<string, () => Promise<void> | void>> = {
    'drops its subscriptions': () => double.dropSubscriptions(),
    'reports conflicts, rightly and wrongly': () =>
      void Object.assign(double.misbehaviour, { conflicts: 5, conflictThoughStored: 5 }),
    'is away for a moment': () => double.restart(),
    'answers late': async () => {
      double.misbehaviour.answerLateMs = 200
      await sleep(500)
      double.misbehaviour.answerLateMs = 0
    },
    'loses appends and answers': () =>
      void Object.assign(double.misbehaviour, { swallowAnswers: 3, ignoreAppends: 3, timeouts: 3 }),
  }
  const happening = Object.entries(faults).slice(0, ROUNDS === 1 ? 1 : undefined)

  for (const [what, fault] of happening)
    it(`schedule each event once and mark each repeat when it ${what}`, async () => {
      await given(answers(200))
      await startTwo()
      const expected = EVENTS_A_ROUND * ROUNDS
      for (let round = 0; round < ROUNDS; round += 1) {
        const names = Array.from({ length: EVENTS_A_ROUND }, (_, at) => `v-${round}-${at}`)
        await log.append(COLLECTION, ...names.map((name) => aliasAdded(name)))
        await until(() => receiver.received.length > round * EVENTS_A_ROUND)
        await fault()
        await until(async () => (await succeeded(log)).length === (round + 1) * EVENTS_A_ROUND, 120_000)
      }

      const events = await eventsOf(log.eventStore)
      const ids = events
        .filter(({ type }) => type === 'AliasAdded')
        .map(({ id: eventId }) => deliveryIdOf(sha256, { eventId, automationId: 'a', action: 0 }))
      const scheduled = events.filter(({ type }) => type === 'DeliveryScheduled')
      assert.deepEqual(scheduled.map(({ data }) => data['delivery_id'] as string).toSorted(), ids.toSorted())
      assert.equal(ids.length, expected)
      const seen = new Set<string>()
      for (const { headers } of receiver.received) {
        const id = headers['webhook-id']!
        if (seen.has(id)) assert.equal(headers['x-vendor-possible-duplicate'], 'true')
        seen.add(id)
      }
      assert.deepEqual(seen, new Set(ids))
      const begun = events.filter(({ type }) => type === 'AttemptStarted')
      const by = new Set(begun.map(({ data }) => data['instance']))
      console.log(`      ${JSON.stringify({ expected, arrivals: receiver.received.length, by: by.size })}`)
    })

  it('call an attempt lost five seconds after it should have ended, and its late end is too late', async () => {
    let held: Socket | undefined
    await given((socket) => void (held = socket))
    const clock = virtualClock()
    let isGone = false
    let told = 0
    const store = await connected()
    const going: EventStore = {
      ...store,
      append: async (stream, expected, events) => {
        if (events[0]!.type === 'AttemptFinished') told += 1
        if (isGone) throw new Error('this process is gone')
        return store.append(stream, expected, events)
      },
    }
    const one = await log.start({ name: 'one', isAlone: false, eventStore: going })
    await log.append(COLLECTION, aliasAdded('one'))
    await until(() => held !== undefined)
    isGone = true

    let looks = 0
    const other = await log.start({
      name: 'two',
      isAlone: false,
      clock,
      eventStore: await connected(),
      state: (state) => ({
        ...state,
        inFlight: () => {
          const found = state.inFlight()
          if (found.length > 0) looks += 1
          return found
        },
      }),
    })
    await other.caughtUp
    const types = async () => (await log.deliveryEvents()).map(({ type }) => type)
    const started = (await log.deliveryEvents()).find(({ type }) => type === 'AttemptStarted')!
    const deadline = Date.parse(started.data['deadline_at'] as string)
    const begun = Date.parse(started.data['started_at'] as string)
    assert.equal(deadline, begun + TIMEOUT_S * 1000 + LEEWAY_MS)

    const seen = looks
    clock.standAt(deadline + GRACE_MS)
    await until(() => looks >= seen + 2)
    assert.deepEqual(await types(), ['DeliveryScheduled', 'AttemptStarted'])
    receiver.behave(answers(200))
    clock.standAt(deadline + GRACE_MS + 1)
    await until(async () => (await types()).includes('AttemptOutcomeUnknown'))
    clock.advance(1000)
    await log.append('webhook-w', { type: 'TestSent', data: { id: 'w', team: 'default', duration_ms: 1 } })
    await until(async () => (await succeeded(log)).length === 1)

    isGone = false
    await until(() => told > 0)
    await one.stop(50)
    assert.deepEqual(await types(), [
      'DeliveryScheduled',
      'AttemptStarted',
      'AttemptOutcomeUnknown',
      'AttemptStarted',
      'AttemptFinished',
    ])
    const marks = receiver.received.map(({ headers }) => headers['x-vendor-possible-duplicate'])
    assert.deepEqual(marks, [undefined, 'true'])
  })
})

const succeeded = async (log: Dispatching): Promise<readonly RecordedEvent[]> =>
  (await log.deliveryEvents()).filter(({ data }) => data['outcome'] === 'succeeded')
