import assert from 'node:assert/strict'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import {
  aliasAdded,
  COLLECTION,
  startDispatching,
  webhookCreated,
  type Dispatching,
} from '../../../support/dispatching.js'
import { until } from '../../../support/until.js'
import { after as later, answers, inTurn } from '../../../support/receivers/behaviours.js'
import { startReceiver, type Receiver } from '../../../support/receivers/receiver.js'
import { virtualClock } from '../../../support/virtual-clock.js'

const DAY = 24 * 3600_000
const WAITS = { retry_waits_s: [0.1, 0.1, 0.1] }

describe('a webhook that has another URL now', () => {
  const stopped: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const stop of stopped.splice(0).reverse()) await stop()
  })

  const receiving = async (behaviour: ReturnType<typeof answers>): Promise<Receiver> => {
    const receiver = await startReceiver(behaviour)
    stopped.push(receiver.stop)
    return receiver
  }
  const dispatching = async (old: Receiver, waits: { readonly retry_waits_s: readonly number[] }) => {
    const clock = virtualClock()
    const log = await startDispatching(openInMemoryEventStore(clock.millis))
    stopped.push(log.stop)
    await log.addWebhook(old.url, waits)
    await (
      await log.start({ clock })
    ).caughtUp
    return { log, clock }
  }
  const moved = (log: Dispatching, to: Receiver) =>
    log.append('webhook-w', { type: 'WebhookChanged', data: webhookCreated('w', to.url, WAITS).data })
  const ended = (log: Dispatching, count: number) =>
    until(
      async () =>
        (await log.deliveryEvents()).filter(({ type }) => type === 'AttemptFinished').length >= count,
    )
  const isDisabled = async (log: Dispatching): Promise<boolean> => {
    for await (const { type } of log.eventStore.readStream('webhook-w'))
      if (type === 'WebhookDisabled') return true
    return false
  }

  for (const [status, headers] of [
    [503, { 'retry-after': '3600' }],
    [410, {}],
  ] as const)
    it(`has nothing held against it that the old receiver answers late: ${status}`, async () => {
      const old = await receiving(later(200, answers(status, headers)))
      const next = await receiving(answers(200))
      const { log } = await dispatching(old, WAITS)
      await log.append(COLLECTION, aliasAdded('one'))
      await until(() => old.received.length === 1)
      await moved(log, next)
      await ended(log, 1)
      await log.append(COLLECTION, aliasAdded('two'))
      await until(() => next.received.some(({ body }) => body.includes('"two"')))
      assert.equal(await isDisabled(log), false)
    })

  it('is not disabled for days in which the old receiver failed', async () => {
    const old = await receiving(answers(500))
    const next = await receiving(inTurn(answers(503), answers(200)))
    const { log, clock } = await dispatching(old, { retry_waits_s: [] })
    await log.append(COLLECTION, aliasAdded('one'))
    await ended(log, 1)
    clock.advance(6 * DAY)
    await moved(log, next)
    await log.append(COLLECTION, aliasAdded('two'))
    await until(() => next.received.length === 2)
    assert.equal(await isDisabled(log), false)
  })
})
