import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sha256 } from '../../../src/adapters/system/system.js'
import { deliveryIdOf } from '../../../src/domain/webhooks/deliveries/id.js'
import type { RecordedEvent } from '../../../src/kernel/ports/event-store.js'
import { COUNTS } from '../../counts.js'
import { bundled } from '../../support/compiled.js'
import { aliasAdded, automationCreated, COLLECTION, webhookCreated } from '../../support/dispatching.js'
import { until } from '../../support/until.js'
import { endWithThisProcess } from '../../support/end-with-this-process.js'
import { answers, dependingOn, resets } from '../../support/receivers/behaviours.js'
import { startReceiver, type Receiver } from '../../support/receivers/receiver.js'
import { dispatchOver } from '../../support/faults/dispatching-over.js'
import { eventsOf, openEventLog } from '../../support/faults/dispatching-log.js'
import { stateDigest } from '../../support/faults/state-digest.js'

const CUTS = COUNTS.tornTails
const EVENTS = COUNTS.rebuiltStateEvents

describe("the dispatcher's state", () => {
  const directories: string[] = []
  let receiver: Receiver
  beforeEach(async () => {
    // Some messages have to wait, for what they were answered.
    const mixed = dependingOn(({ body }) =>
      /[05]"/.test(body.toString()) ? answers(500) : /7"/.test(body.toString()) ? resets : answers(200),
    )
    receiver = await startReceiver(mixed)
  })
  afterEach(async () => {
    await receiver.stop()
    for (const directory of directories.splice(0)) await rm(directory, { recursive: true })
  })

  const directory = async () => {
    const made = await mkdtemp(join(tmpdir(), 'tallytree-rebuilt-'))
    directories.push(made)
    return made
  }
  const digestOf = (path: string) => stateDigest(join(path, 'dispatcher.db'))
  const remove = async (path: string) => {
    for (const end of ['', '-wal', '-shm']) await rm(join(path, `dispatcher.db${end}`), { force: true })
  }
  /** Dispatches until it is done, and stops; how long the log is then. */
  const dispatch = async (
    path: string,
    isDone: (events: readonly RecordedEvent[]) => boolean,
  ): Promise<number> => {
    const { eventStore } = openEventLog(path)
    const dispatcher = await dispatchOver(path, eventStore)
    await dispatcher.caughtUp
    await until(async () => isDone(await eventsOf(eventStore)), 120_000)
    await dispatcher.stop()
    const { length } = await eventsOf(eventStore)
    await eventStore.close()
    return length
  }
  const count = (events: readonly RecordedEvent[], holds: (event: RecordedEvent) => boolean) =>
    events.filter(holds).length

  const spoilt: Readonly<Record<string, (path: string) => Promise<void>>> = {
    deleted: remove,
    'cut off in the middle': async (path) => {
      const file = join(path, 'dispatcher.db')
      await truncate(file, Math.floor((await stat(file)).size / 2))
    },
    'no database any more': (path) =>
      writeFile(join(path, 'dispatcher.db'), 'something else entirely'.repeat(999)),
    empty: (path) => truncate(join(path, 'dispatcher.db'), 0),
  }

  it(`is the same again, from ${EVENTS} events, whatever became of its file, and nothing is sent for that`, async () => {
    const path = await directory()
    const log = openEventLog(path)
    const content = { retry_waits_s: [36_000, 36_000], secret: null }
    for (const id of ['w', 'off', 'gone']) {
      await log.append(
        `webhook-${id}`,
        webhookCreated(id, receiver.url, { ...content, enabled: id !== 'off' }),
      )
      await log.append(`automation-${id}`, automationCreated(id, id))
    }
    const metric = { type: 'RUN_METRIC', metric: 'loss', comparison: '$gt', threshold: 1, window: 1 }
    await log.append('automation-m', automationCreated('m', 'w', { event: metric }))
    const cost = { type: 'CALL_USAGE_THRESHOLD', measure: 'cost', comparison: '$gt', threshold: 5 }
    await log.append('automation-c', automationCreated('c', 'w', { event: cost }))
    await log.append('webhook-gone', { type: 'WebhookDeleted', data: { id: 'gone', team: 'default' } })
    for (let at = 0; at < EVENTS; at += 1) {
      await log.append(COLLECTION, aliasAdded(`v-${at}`))
      const run = { project_id: 'default/p', run_id: `r-${at % 5}`, name: 'run', user: 'ada' }
      if (at % 3 === 0)
        await log.append(`run-default/p/r-${at % 5}`, {
          type: 'MetricsLogged',
          data: { ...run, metrics: { loss: at }, step: null },
        })
      if (at % 4 === 0) await log.append('price-default/p', pricePublished(at))
      if (at % 2 === 0) await log.append(`call-default/p/c-${at}`, callEnded(`c-${at}`))
    }
    // The price of a token is the number at which it was published, and each call used one.
    const COSTLY = Array.from({ length: EVENTS }, (_, at) => at).filter(
      (at) => at % 2 === 0 && at >= 8,
    ).length
    await log.eventStore.close()
    const RUNS = 5
    const attempted = (events: readonly RecordedEvent[]) =>
      count(events, ({ type }) => type === 'DeliveryScheduled') === 2 * EVENTS + RUNS + COSTLY &&
      count(events, ({ type }) => type === 'AttemptFinished') === EVENTS + RUNS + COSTLY
    const length = await dispatch(path, attempted)
    const [digest, arrived] = [digestOf(path), receiver.received.length]
    assert.equal(arrived, EVENTS + RUNS + COSTLY)

    for (const [what, spoil] of Object.entries(spoilt)) {
      await spoil(path)
      assert.equal(await dispatch(path, attempted), length, what)
      assert.equal(digestOf(path), digest, what)
    }
    assert.equal(receiver.received.length, arrived)
  })

  it(`follows a log whose tail is torn, at ${CUTS} places`, async () => {
    const crashed = await directory()
    const given = openEventLog(crashed)
    await given.append('webhook-w', webhookCreated('w', receiver.url, { retry_waits_s: [0.05] }))
    await given.append('automation-a', automationCreated('a', 'w'))
    await given.eventStore.close()
    const program = await bundled('test/support/faults/crashing-child.ts')
    const child = spawn(
      process.execPath,
      [program, crashed, 'after AttemptStarted was written', '3', '300'],
      { stdio: ['ignore', 'inherit', 'inherit'] },
    )
    endWithThisProcess(child)
    await once(child, 'exit')
    assert.equal(receiver.received.length, 0)
    const { size } = await stat(join(crashed, 'events.db-wal'))

    const lengths = new Set<number>()
    for (let cut = 0; cut < CUTS; cut += 1) {
      const path = await directory()
      await cp(crashed, path, { recursive: true })
      await truncate(join(path, 'events.db-wal'), Math.floor((size * (cut + Math.random())) / CUTS))
      receiver.behave(answers(200))
      const before: number = receiver.received.length
      const torn = openEventLog(path)
      lengths.add((await eventsOf(torn.eventStore)).length)
      await torn.eventStore.close()

      const arrivedAll = (events: readonly RecordedEvent[]) =>
        count(events, ({ type }) => type === 'AliasAdded') ===
        count(events, ({ data }) => data['outcome'] === 'succeeded')
      await dispatch(path, arrivedAll)
      const log = openEventLog(path)
      const events = await eventsOf(log.eventStore)
      await log.eventStore.close()
      const ids = events
        .filter(({ type }) => type === 'AliasAdded')
        .map(({ id: eventId }) => deliveryIdOf(sha256, { eventId, automationId: 'a', action: 0 }))
      const arrived: readonly string[] = receiver.received
        .slice(before)
        .map(({ headers }) => headers['webhook-id']!)
      assert.deepEqual(arrived.toSorted(), ids.toSorted())
      const scheduled = events.filter(({ type }) => type === 'DeliveryScheduled')
      assert.deepEqual(scheduled.map(({ data }) => data['delivery_id'] as string).toSorted(), ids.toSorted())

      const digest = digestOf(path)
      await remove(path)
      await dispatch(path, arrivedAll)
      assert.equal(digestOf(path), digest)
    }
    console.log(`      events that were left: ${[...lengths].join(', ')}`)
  })
})

const at = '2026-01-01T00:00:00.000000Z'

const pricePublished = (cost: number) => ({
  type: 'PricePublished',
  data: {
    project_id: 'default/p',
    list: null,
    id: `price-${cost}`,
    llm_id: 'm',
    prompt_token_cost: String(cost),
    completion_token_cost: '0',
    effective_date: at,
    created_at: at,
  },
})

const callEnded = (id: string) => ({
  type: 'CallEnded',
  data: {
    project_id: 'default/p',
    id,
    ended_at: at,
    start: { trace_id: id, started_at: at },
    usage: { models: [{ model: 'm', prompt_tokens: 1 }] },
  },
})
