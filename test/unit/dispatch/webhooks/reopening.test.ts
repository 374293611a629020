import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemIds } from '../../../../src/adapters/system/system.js'
import type { Dispatcher } from '../../../../src/dispatch/webhooks/dispatcher.js'
import type { Instant } from '../../../../src/kernel/codec/instant.js'
import type { DeliveryCommand } from '../../../../src/domain/webhooks/deliveries/commands.js'
import { deliveryDecider } from '../../../../src/domain/webhooks/deliveries/decider.js'
import { newEvent } from '../../../../src/kernel/event.js'
import { execute } from '../../../../src/kernel/execute.js'
import {
  aliasAdded,
  COLLECTION,
  startDispatching,
  webhookCreated,
  type Dispatching,
} from '../../../support/dispatching.js'
import { until } from '../../../support/until.js'
import { appendNext } from '../../../support/append-next.js'
import { after as later, answers, inTurn } from '../../../support/receivers/behaviours.js'
import { startReceiver, type Behaviour, type Receiver } from '../../../support/receivers/receiver.js'

const HOURS = { retry_waits_s: Array.from({ length: 12 }, () => 3600) }
const OF_WEBHOOK = { id: 'w', team: 'default' }

describe('a webhook whose receiver was fixed', () => {
  let log: Dispatching
  let dispatcher: Dispatcher
  let receiver: Receiver
  beforeEach(async () => {
    log = await startDispatching()
  })
  afterEach(async () => {
    await log.stop(50)
    await receiver.stop()
  })

  const given = async (behaviour: Behaviour) => {
    receiver = await startReceiver(behaviour)
    await log.addWebhook(receiver.url, HOURS)
    dispatcher = await log.start()
    await dispatcher.caughtUp
  }
  const count = async (type: string) =>
    (await log.deliveryEvents()).filter((event) => event.type === type).length
  /** Sends so many messages and waits until no attempt is under way. */
  const sent = async (messages: number) => {
    await log.append(COLLECTION, ...Array.from({ length: messages }, (_, n) => aliasAdded(`v-${n}`)))
    await until(async () => (await count('DeliveryScheduled')) === messages)
    await settled()
  }
  const settled = async () => {
    await until(() => receiver.received.length > 0)
    for (let before = -1; before !== receiver.received.length;) {
      before = receiver.received.length
      await sleep(200)
      await until(async () => (await count('AttemptStarted')) === (await count('AttemptFinished')))
    }
  }
  const arrived = (alias: string) =>
    until(() => receiver.received.some(({ body }) => body.includes(`"${alias}"`)), 5000)

  const enable = () =>
    log.append(
      'webhook-w',
      { type: 'WebhookDisabled', data: { ...OF_WEBHOOK, reason: 'by_hand', depth: 0 } },
      { type: 'WebhookEnabled', data: OF_WEBHOOK },
    )
  const release = () => log.append('webhook-w', { type: 'WebhookReleased', data: OF_WEBHOOK })
  const change = () =>
    log.append('webhook-w', {
      type: 'WebhookChanged',
      data: webhookCreated('w', receiver.url, { ...HOURS, timeout_s: 10 }).data,
    })
  const resend = async (which: number, request = 'request') => {
    const scheduled = (await log.deliveryEvents()).filter(({ type }) => type === 'DeliveryScheduled')
    const { stream, data } = scheduled[which]!
    const resent = {
      type: 'DeliveryResent',
      data: { delivery_id: data['delivery_id']!, team: 'default', due_at: '2026-01-01T00:00:00.000000Z' },
    }
    const cause = { correlationId: request, causationId: request, actor: 'ada' }
    await appendNext(log.eventStore, stream, [newEvent(systemIds.next(), resent, cause)])
  }

  for (const [what, act] of [
    ['enabled', enable],
    ['changed', change],
    ['released', release],
    ['told to resend a message', () => resend(0)],
  ] as const) {
    it(`gets new and waiting messages at once when it is ${what} while its breaker is open`, async () => {
      await given(answers(500))
      await sent(12)
      const failed = receiver.received.length
      receiver.behave(answers(200))
      await act()
      await log.append(COLLECTION, aliasAdded('new'))
      await arrived('new')
      await until(() => receiver.received.length === failed + 13, 5000)
    })

    it(`gets new messages at once when it is ${what} before a Retry-After is over`, async () => {
      await given(inTurn(answers(429, { 'retry-after': '3600' }), answers(200)))
      await sent(1)
      await act()
      await log.append(COLLECTION, aliasAdded('new'))
      await arrived('new')
      await until(() => receiver.received.length === 3, 5000)
    })

    it(`has no Retry-After any more after a restart when it is ${what}`, async () => {
      await given(answers(503, { 'retry-after': '3600' }))
      await sent(1)
      await dispatcher.stop()
      await act()
      receiver.behave(answers(200))
      const { caughtUp } = await log.start()
      await caughtUp
      await log.append(COLLECTION, aliasAdded('new'))
      await arrived('new')
    })
  }

  it('is not throttled by an attempt that began before it was enabled', async () => {
    await given(later(300, answers(503, { 'retry-after': '3600' })))
    await log.append(COLLECTION, aliasAdded('one'))
    await until(() => receiver.received.length === 1)
    receiver.behave(answers(200))
    await enable()
    await until(async () => (await count('AttemptFinished')) === 1)
    await log.append(COLLECTION, aliasAdded('new'))
    await arrived('new')
  })

  it('gets a message that was never attempted when that is resent while its breaker is open', async () => {
    await given(answers(500))
    await sent(40)
    const failed = receiver.received.length
    receiver.behave(answers(200))
    const events = await log.deliveryEvents()
    const attempted = new Set(
      events.flatMap(({ type, stream }) => (type === 'AttemptStarted' ? [stream] : [])),
    )
    const { stream, data } = events.find((event) => !attempted.has(event.stream))!
    const command: DeliveryCommand = {
      type: 'ResendDelivery',
      deliveryId: data['delivery_id'] as string,
      now: '2026-01-01T00:00:00.000000Z' as Instant,
    }
    const cause = { correlationId: 'request', causationId: 'request', actor: 'ada' }
    await execute({ eventStore: log.eventStore, ids: systemIds })(deliveryDecider, stream, [command], cause)
    await until(() => receiver.received.length === failed + 40, 5000)
  })

  it('has its breaker closed once by a request that resends many messages', async () => {
    await given(answers(500))
    await sent(60)
    const failed = receiver.received.length
    assert.ok(failed < 20, `${failed}`)
    for (let which = 0; which < 60; which += 1) await resend(which)
    await settled()
    assert.ok(receiver.received.length < 2 * failed + 10, `${failed} and ${receiver.received.length}`)
    const before = receiver.received.length
    await resend(0, 'another request')
    await until(() => receiver.received.length > before, 5000)
  })

  it('does not try the other waiting messages when a resent one fails', async () => {
    await given(answers(500))
    await sent(10)
    assert.equal(receiver.received.length, 10)
    await resend(0)
    await settled()
    assert.equal(receiver.received.length, 11)
  })
})
