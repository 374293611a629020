import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { sha256 } from '../../../src/adapters/system/system.js'
import { deliveryIdOf } from '../../../src/domain/webhooks/deliveries/id.js'
import type { RecordedEvent } from '../../../src/kernel/ports/event-store.js'
import { COUNTS } from '../../counts.js'
import { bundled } from '../../support/compiled.js'
import { automationCreated, webhookCreated } from '../../support/dispatching.js'
import { until } from '../../support/until.js'
import { endWithThisProcess } from '../../support/end-with-this-process.js'
import { after as later, answers, resets } from '../../support/receivers/behaviours.js'
import { startReceiver, type Behaviour, type Receiver } from '../../support/receivers/receiver.js'
import { eventsOf, openEventLog } from '../../support/faults/dispatching-log.js'

const ROUNDS = COUNTS.dispatcherKills
/** Events that each round writes at least. */
const EVENTS = COUNTS.dispatcherKillEvents

const WAITS = Array.from({ length: 32 }, () => 0.05)

/** One arrival: what was answered to it, null for nothing. */
interface Arrival {
  readonly id: string
  readonly isMarked: boolean
  readonly status: number | null
}

describe('the dispatcher under kill -9', function () {
  this.timeout(1_800_000)
  let dataDirectory: string
  const arrivals: Arrival[] = []
  const receivers: Receiver[] = []

  const receiving = async (statusOf: () => number | null, behave: (status: number) => Behaviour) => {
    const receiver = await startReceiver((socket, received) => {
      const status = statusOf()
      const { headers } = received
      arrivals.push({
        id: headers['webhook-id']!,
        isMarked: headers['x-vendor-possible-duplicate'] === 'true',
        status,
      })
      if (status === null) resets(socket, received)
      else behave(status)(socket, received)
    })
    receivers.push(receiver)
    return receiver.url
  }

  before(async () => {
    dataDirectory = await mkdtemp(join(tmpdir(), 'tallytree-killed-'))
    const urls = [
      await receiving(() => 200, answers),
      await receiving(
        () => 200,
        (status) => later(30 * Math.random(), answers(status)),
      ),
      await receiving(() => (Math.random() < 0.2 ? 500 : 200), answers),
      await receiving(() => (Math.random() < 0.2 ? null : 204), answers),
    ]
    const { eventStore, append } = openEventLog(dataDirectory)
    for (const [index, url] of urls.entries()) {
      const webhook = webhookCreated(`w-${index}`, url, { retry_waits_s: WAITS })
      await append(`webhook-w-${index}`, webhook)
      await append(`automation-a-${index}`, automationCreated(`a-${index}`, `w-${index}`))
    }
    // A 4xx keeps the breaker closed.
    const never = await receiving(() => 422, answers)
    await append('webhook-late', webhookCreated('late', never, { retry_waits_s: [36_000] }))
    await append(
      'automation-late',
      automationCreated('late', 'late', { event: { type: 'ADD_ARTIFACT_ALIAS', alias_pattern: '-0$' } }),
    )
    await eventStore.close()
  })
  after(async () => {
    for (const receiver of receivers) await receiver.stop()
    await rm(dataDirectory, { recursive: true, force: true })
  })

  const start = async () => {
    const child = spawn(process.execPath, [await bundled('test/support/faults/dispatching-child.ts')], {
      env: { ...process.env, TALLYTREE_DATA_DIR: dataDirectory, UV_THREADPOOL_SIZE: '12' },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    endWithThisProcess(child)
    await once(child.stdout, 'data')
    return child
  }

  const tell = (child: ReturnType<typeof spawn>, word: string) => void child.stdin!.write(`${word}\n`)
  const ended = (child: ChildProcess) =>
    child.exitCode === null && child.signalCode === null ? once(child, 'exit') : Promise.resolve()

  /** The whole log, read while nobody else has it. */
  const readLog = async (): Promise<readonly RecordedEvent[]> => {
    const { eventStore } = openEventLog(dataDirectory)
    const events = await eventsOf(eventStore)
    await eventStore.close()
    return events
  }

  /** What the dispatcher's state says is open, and when it is due. */
  const openDeliveries = () => {
    const db = new Database(join(dataDirectory, 'dispatcher.db'))
    const rows = db
      .prepare<[], { id: string; webhook: string; turn: string; due_at: number }>(
        'SELECT id, webhook, turn, due_at FROM deliveries ORDER BY id',
      )
      .all()
    db.close()
    return rows
  }

  /** Runs until nothing is left to do but what is due in hours, and stops. */
  const drain = async () => {
    const child = await start()
    for (let still = 0, seen = -1; still < 24;) {
      await sleep(250)
      still = arrivals.length === seen ? still + 1 : 0
      seen = arrivals.length
    }
    tell(child, 'stop')
    await ended(child)
    assert.equal(child.exitCode, 0)
  }

  it(`schedules each event once, delivers it, marks each repeat and forgets nothing, ${ROUNDS} times`, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const child = await start()
      let written = 0
      child.stdout.on('data', (told) => (written = Number(String(told).trim().split('\n').at(-1))))
      tell(child, 'write')
      await until(() => written >= EVENTS)
      await sleep(100 + 500 * Math.random())
      if (round % 2 === 1) tell(child, 'quiet')
      await sleep(100 * Math.random())
      child.kill('SIGKILL')
      await ended(child)
    }
    await drain()

    const log = await readLog()
    const told = check(log)
    const open = openDeliveries()
    assert.deepEqual(new Set(open.map(({ webhook, turn }) => `${webhook} ${turn}`)), new Set(['late retry']))

    await rm(join(dataDirectory, 'dispatcher.db'))
    await drain()
    assert.deepEqual(openDeliveries(), open)
    assert.equal((await readLog()).length, log.length)
    console.log(`      ${ROUNDS} rounds: ${JSON.stringify({ ...told, arrivals: arrivals.length })}`)
  })

  const check = (log: readonly RecordedEvent[]) => {
    const events = log.filter(({ type }) => type === 'AliasAdded')
    assert.ok(events.length >= ROUNDS * EVENTS, `only ${events.length} events`)
    const expected = new Set<string>()
    for (const { id: eventId, data } of events) {
      const automations = [
        'a-0',
        'a-1',
        'a-2',
        'a-3',
        ...(/-0$/.test(data['alias'] as string) ? ['late'] : []),
      ]
      for (const automationId of automations)
        expected.add(deliveryIdOf(sha256, { eventId, automationId, action: 0 }))
    }
    const scheduled = log
      .filter(({ type }) => type === 'DeliveryScheduled')
      .map(({ data }) => data['delivery_id'] as string)
    assert.equal(scheduled.length, expected.size)
    assert.deepEqual(new Set(scheduled), expected)

    const streams = grouped(
      log.filter(({ stream }) => stream.startsWith('delivery-')),
      ({ stream }) => stream.slice('delivery-'.length),
    )
    const arrived = grouped(arrivals, ({ id }) => id)
    let repeats = 0
    for (const id of expected) {
      const events = streams.get(id)!
      const seen = arrived.get(id) ?? []
      const isLate = events[0]!.data['webhook_id'] === 'late'
      const { type, data } = events.at(-1)!
      const isLost = type === 'AttemptOutcomeUnknown'
      // What was lost before it left comes hours later where the first wait is as long.
      assert.ok(seen.length > 0 || (isLate && isLost), `${id} never arrived`)
      if (!isLate) assert.equal(data['outcome'], 'succeeded')
      else assert.ok(isLost || data['outcome'] === 'retry')
      seen.forEach((arrival, index) => {
        const before = seen.slice(0, index)
        // What was refused with a status, and that was heard, may come again without a mark; nothing else may.
        if (before.some(({ status }) => status === null || status < 300)) {
          repeats += 1
          assert.ok(arrival.isMarked, `${id} came again without a mark`)
        }
      })
      if (seen.some(({ isMarked }) => isMarked)) assert.ok(events.some(mayHaveArrived))
    }
    const unknown = log.filter(({ type }) => type === 'AttemptOutcomeUnknown').length
    return { events: events.length, deliveries: expected.size, repeats, unknown }
  }

  const mayHaveArrived = ({ type, data }: RecordedEvent) =>
    type === 'AttemptOutcomeUnknown' ||
    (type === 'AttemptFinished' && data['status'] === null && data['body_sent'] === true)
})

const grouped = <A>(all: readonly A[], keyOf: (one: A) => string): ReadonlyMap<string, readonly A[]> => {
  const groups = new Map<string, A[]>()
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one])
  return groups
}
