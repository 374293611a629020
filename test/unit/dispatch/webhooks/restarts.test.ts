import assert from 'node:assert/strict'
import { answers, hangs } from '../../../support/receivers/behaviours.js'
import { startReceiver, type Behaviour, type Receiver } from '../../../support/receivers/receiver.js'
import {
  aliasAdded,
  automationCreated,
  COLLECTION,
  startDispatching,
  webhookCreated,
  type Dispatching,
} from '../../../support/dispatching.js'
import { until } from '../../../support/until.js'

const FAST = { retry_waits_s: [0.05, 0.05, 0.05, 0.05, 0.05], timeout_s: 30 }

describe('a dispatcher that begins anew', () => {
  let log: Dispatching
  let receivers: Receiver[]
  beforeEach(async () => {
    log = await startDispatching()
    receivers = []
  })
  afterEach(async () => {
    await log.stop()
    for (const receiver of receivers) await receiver.stop()
  })

  const receiver = async (behaviour: Behaviour): Promise<Receiver> => {
    const started = await startReceiver(behaviour)
    receivers.push(started)
    return started
  }
  /** A webhook of its own for every alias, under a name. */
  const watching = async (
    name: string,
    { url }: Receiver,
    content: Readonly<Record<string, unknown>> = FAST,
  ) => {
    await log.append(`webhook-${name}`, webhookCreated(name, `${url}hook`, content))
    await log.append(`automation-${name}`, automationCreated(name, name))
  }
  const given = async (behaviour: Behaviour, content?: Readonly<Record<string, unknown>>) => {
    const started = await receiver(behaviour)
    await watching('w', started, content)
    return started
  }
  const attempted = (count: number) =>
    until(async () => {
      const written = await log.deliveryEvents()
      return written.filter(({ type }) => type === 'AttemptFinished').length === count
    })

  it('leaves a receiver alone as long as that asked', async () => {
    const { received } = await given(answers(503, { 'retry-after': '3600' }))
    const other = await receiver(answers(200))
    await watching('v', other)
    const first = await log.start()
    await log.append(COLLECTION, aliasAdded('one'))
    await attempted(2)
    await first.stop()
    await log.start()
    await log.append(COLLECTION, aliasAdded('two'))
    await until(() => other.received.length === 2)
    await log.append(COLLECTION, aliasAdded('three'))
    await until(() => other.received.length === 3)
    assert.equal(received.length, 1)
  })

  it('holds nothing that a receiver asked for against the one at another address', async () => {
    const { received } = await given(answers(503, { 'retry-after': '3600' }))
    const other = await receiver(answers(200))
    const first = await log.start()
    await log.append(COLLECTION, aliasAdded('one'))
    await attempted(1)
    const { data } = webhookCreated('w', `${other.url}hook`, FAST)
    await log.append('webhook-w', { type: 'WebhookChanged', data })
    await log.append(COLLECTION, aliasAdded('two'))
    // The first message is sent to the new address, too.
    await until(() => other.received.length === 2)
    await attempted(3)
    await first.stop()
    await log.start()
    await log.append(COLLECTION, aliasAdded('three'))
    await until(() => other.received.length === 3)
    assert.equal(received.length, 1)
  })

  it('gives a receiver that hung one attempt at a time', async () => {
    const { received } = await given(hangs, { retry_waits_s: [3600], timeout_s: 10 })
    const other = await receiver(answers(200))
    await watching('v', other)
    const first = await log.start()
    await log.append(COLLECTION, aliasAdded('one'))
    await attempted(2)
    await first.stop()
    await log.append(COLLECTION, ...['two', 'three', 'four'].map((alias) => aliasAdded(alias)))
    await log.start()
    await until(() => received.length > 1 && other.received.length === 4)
    assert.equal(received.length, 2)
  })

  it('takes nothing of one log over to another, however long that is', async () => {
    const { received } = await given(answers(200))
    const first = await log.start()
    await log.append(COLLECTION, aliasAdded('one'))
    await attempted(1)
    await first.stop()

    const other = await startDispatching()
    await other.addWebhook(`${receivers[0]!.url}hook`, FAST)
    const aliases = Array.from({ length: 20 }, (_, index) => aliasAdded(`v-${index}`))
    await other.append(COLLECTION, ...aliases)
    const second = await log.start({ eventStore: other.eventStore })
    await until(() => received.length === 21)
    await second.stop()
    await other.stop()
  })
})
