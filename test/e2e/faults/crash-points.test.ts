import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sha256 } from '../../../src/adapters/system/system.js'
import { deliveryIdOf } from '../../../src/domain/webhooks/deliveries/id.js'
import type { RecordedEvent } from '../../../src/kernel/ports/event-store.js'
import { COUNTS } from '../../counts.js'
import { bundled } from '../../support/compiled.js'
import { automationCreated, webhookCreated } from '../../support/dispatching.js'
import { until } from '../../support/until.js'
import { endWithThisProcess } from '../../support/end-with-this-process.js'
import { answers } from '../../support/receivers/behaviours.js'
import { startReceiver } from '../../support/receivers/receiver.js'
import { dispatchOver } from '../../support/faults/dispatching-over.js'
import { eventsOf, openEventLog } from '../../support/faults/dispatching-log.js'

const ROUNDS = COUNTS.crashPoints

/** Processes take most of their time to begin. */
const AT_ONCE = 3

/** What the log holds of a delivery in the end. */
const ONCE = ['DeliveryScheduled', 'AttemptStarted', 'AttemptFinished']
const TWICE = [
  'DeliveryScheduled',
  'AttemptStarted',
  'AttemptOutcomeUnknown',
  'AttemptStarted',
  'AttemptFinished',
]

interface Row {
  readonly aliases?: number
  /** Messages that were there whole when it crashed. */
  readonly before: number
  /** Whether each message that came had the mark; a row of its own for each delivery. */
  readonly marks: readonly boolean[]
  readonly log: readonly string[]
  /** Whether nothing had come over the network when it crashed. */
  readonly silent: boolean
  /** It is there for a moment before it crashes, and does not go on: what must be waited for is waited for. */
  readonly lingers?: boolean
}

const UNTOUCHED: Row = { before: 0, marks: [false], log: ONCE, silent: true }
const UNKNOWN_UNSENT: Row = { before: 0, marks: [true], log: TWICE, silent: true }
const UNKNOWN_SENT: Row = { before: 1, marks: [false, true], log: TWICE, silent: false }

const ROWS: Readonly<Record<string, Row>> = {
  'before AliasAdded is written': { before: 0, marks: [], log: [], silent: true, lingers: true },
  'before alias 1 is matched': UNTOUCHED,
  'before alias 5 is matched': { ...UNTOUCHED, aliases: 8 },
  'before DeliveryScheduled is written': { ...UNTOUCHED, lingers: true },
  'after DeliveryScheduled was written': UNTOUCHED,
  'before AttemptStarted is written': { ...UNTOUCHED, lingers: true },
  'after AttemptStarted was written': { ...UNKNOWN_UNSENT, lingers: true },
  'in the middle of the body': { ...UNKNOWN_UNSENT, silent: false },
  'before the answer': UNKNOWN_SENT,
  'with the answer in memory': UNKNOWN_SENT,
  'before AttemptFinished is written': { ...UNKNOWN_SENT, lingers: true },
  'after AttemptFinished was written': { before: 1, marks: [false], log: ONCE, silent: false },
}

describe('a dispatcher that is gone at a certain point', function () {
  this.timeout(1_800_000 * ROUNDS)

  /** Crashes there, comes back, and tells of both. */
  const crashing = async (point: string, { aliases = 1, lingers = false }: Row) => {
    const directory = await mkdtemp(join(tmpdir(), 'tallytree-crash-point-'))
    const receiver = await startReceiver(answers(200))
    const given = openEventLog(directory)
    await given.append('webhook-w', webhookCreated('w', receiver.url, { retry_waits_s: [0.05] }))
    await given.append('automation-a', automationCreated('a', 'w'))
    await given.eventStore.close()

    const program = await bundled('test/support/faults/crashing-child.ts')
    const child = spawn(
      process.execPath,
      [program, directory, point, String(aliases), lingers ? '100' : '0'],
      { stdio: ['ignore', 'inherit', 'inherit'] },
    )
    endWithThisProcess(child)
    if (point === 'before the answer') receiver.behave(() => void child.kill('SIGKILL'))
    await once(child, 'exit')
    assert.equal(child.signalCode, 'SIGKILL')
    // What it had sent may still be on its way.
    await until(() => receiver.open() === 0)
    const crashed = {
      received: receiver.received.length,
      connections: receiver.connections(),
      bytes: receiver.bytes().length,
    }

    receiver.behave(answers(200))
    const { eventStore } = openEventLog(directory)
    const dispatcher = await dispatchOver(directory, eventStore)
    await dispatcher.caughtUp
    await until(async () => isDone(await eventsOf(eventStore)))
    await dispatcher.stop()
    const log = await eventsOf(eventStore)
    await eventStore.close()
    await receiver.stop()
    await rm(directory, { recursive: true })
    return { crashed, log, received: receiver.received }
  }

  type Outcome = Awaited<ReturnType<typeof crashing>>
  const planned = Array.from({ length: ROUNDS }, (_, round) =>
    Object.entries(ROWS).map(([point, row]) => ({ round, point, row })),
  ).flat()
  const outcomes = new Map<(typeof planned)[number], Outcome>()
  before(async () => {
    const waiting = [...planned]
    const crashInTurn = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
        outcomes.set(next, await crashing(next.point, next.row))
    }
    await Promise.all(Array.from({ length: AT_ONCE }, crashInTurn))
  })

  for (const plan of planned)
    it(`${plan.point} leaves what the table says${plan.round === 0 ? '' : `, ${plan.round + 1}`}`, () => {
      const { row } = plan
      const { crashed, log, received } = outcomes.get(plan)!
      assert.equal(crashed.received, row.before)
      assert.deepEqual([crashed.connections === 0, crashed.bytes === 0], [row.silent, row.silent])

      const added = log.filter(({ type }) => type === 'AliasAdded')
      assert.equal(added.length, row.log.length === 0 ? 0 : (row.aliases ?? 1))
      const ids = added.map(({ id: eventId }) =>
        deliveryIdOf(sha256, { eventId, automationId: 'a', action: 0 }),
      )
      assert.deepEqual(new Set(received.map(({ headers }) => headers['webhook-id'])), new Set(ids))
      for (const id of ids) {
        const types = log.filter(({ stream }) => stream === `delivery-${id}`).map(({ type }) => type)
        assert.deepEqual(types, row.log)
        const came = received.filter(({ headers }) => headers['webhook-id'] === id)
        const marks = came.map(({ headers }) => headers['x-vendor-possible-duplicate'] === 'true')
        assert.deepEqual(marks, row.marks)
      }
      assert.equal(
        log.filter(({ stream }) => stream.startsWith('delivery-')).length,
        ids.length * row.log.length,
      )
    })
})

/** Whatever was added was scheduled, and whatever was scheduled arrived. */
const isDone = (log: readonly RecordedEvent[]): boolean => {
  const count = (holds: (event: RecordedEvent) => boolean) => log.filter(holds).length
  const added = count(({ type }) => type === 'AliasAdded')
  return count(({ data }) => data['outcome'] === 'succeeded') === added
}
