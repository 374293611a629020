import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RecordedEvent } from '../../../src/kernel/ports/event-store.js'
import { COUNTS } from '../../counts.js'
import { aliasAdded, automationCreated, COLLECTION, webhookCreated } from '../../support/dispatching.js'
import { until } from '../../support/until.js'
import { after as later, answers, dependingOn } from '../../support/receivers/behaviours.js'
import { startReceiver, type Receiver } from '../../support/receivers/receiver.js'
import { startRunningService } from '../../support/running-service.js'
import { dispatchOver } from '../../support/faults/dispatching-over.js'
import { eventsOf, openEventLog } from '../../support/faults/dispatching-log.js'

const ROUNDS = COUNTS.gracefulStops

const WEBHOOKS = 4
const ALIASES = 100

describe('SIGTERM while webhooks are being sent', () => {
  let directory: string
  let receiver: Receiver
  let answered = 0
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tallytree-graceful-'))
    const slowly = dependingOn(() =>
      later(100 + 400 * Math.random(), (...given) => {
        answered += 1
        answers(200)(...given)
      }),
    )
    receiver = await startReceiver(slowly, { address: '127.0.0.1' })
    const { eventStore, append } = openEventLog(directory)
    for (let index = 0; index < WEBHOOKS; index += 1) {
      await append(`webhook-w-${index}`, webhookCreated(`w-${index}`, receiver.url))
      await append(`automation-a-${index}`, automationCreated(`a-${index}`, `w-${index}`))
    }
    await eventStore.close()
  })
  after(async () => {
    await receiver.stop()
    await rm(directory, { recursive: true })
  })

  const inLog = async <A>(
    look: (log: ReturnType<typeof openEventLog>, events: readonly RecordedEvent[]) => Promise<A> | A,
  ): Promise<A> => {
    const log = openEventLog(directory)
    try {
      return await look(log, await eventsOf(log.eventStore))
    } finally {
      await log.eventStore.close()
    }
  }
  const count = (events: readonly RecordedEvent[], wanted: string) =>
    events.filter(({ type }) => type === wanted).length

  it(`leaves no outcome unknown and nothing under way, ${ROUNDS} times`, async () => {
    const inFlight: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      await inLog(({ append }) =>
        append(COLLECTION, ...Array.from({ length: ALIASES }, (_, at) => aliasAdded(`${round}-${at}`))),
      )
      const before = receiver.received.length
      const service = await startRunningService({
        TALLYTREE_DATA_DIR: directory,
        TALLYTREE_BOOTSTRAP_API_KEY: 'administrator-key-of-this-test',
        TALLYTREE_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
      })
      await until(() => receiver.received.length > before + 50)
      await sleep(500 * Math.random())
      inFlight.push(receiver.received.length - answered)
      assert.equal(await service.stop(), 0)
      await service.remove()

      await inLog((_, events) => {
        const { length } = receiver.received
        assert.ok(length < WEBHOOKS * ALIASES * (round + 1), 'it stopped under load')
        assert.equal(count(events, 'AttemptOutcomeUnknown'), 0)
        assert.equal(count(events, 'AttemptStarted'), length)
        assert.equal(count(events, 'AttemptFinished'), length)
      })
    }

    receiver.behave(answers(200))
    await inLog(async ({ eventStore }, events) => {
      const all = WEBHOOKS * count(events, 'AliasAdded')
      const dispatcher = await dispatchOver(directory, eventStore)
      await until(() => receiver.received.length >= all, 300_000)
      await dispatcher.stop()
      const ids = new Set(receiver.received.map(({ headers }) => headers['webhook-id']))
      assert.deepEqual([ids.size, receiver.received.length], [all, all])
      assert.ok(
        receiver.received.every(({ headers }) => headers['x-vendor-possible-duplicate'] === undefined),
      )
    })
    console.log(
      `      under way when it was told: ${inFlight.join(', ')}; ${receiver.received.length} in all`,
    )
  })
})
