import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openEventStoreDb } from '../../../src/adapters/event-store/eventstoredb/event-store-db.js'
import { COUNTS } from '../../counts.js'
import { startChildDouble, type ChildDouble } from '../../support/eventstoredb-protocol-double/child.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'
import { assertLogIsWhole } from '../../support/faults/assert-log-is-whole.js'
import type { Entry } from '../../support/faults/ledger.js'
import { checking, countsOf } from '../../support/faults/write-and-check.js'
import { sendAgain, writeUntilGone } from '../../support/faults/write-load.js'
import { until } from '../../support/until.js'

const ROUNDS = COUNTS.eventStoreOutages
const MINUTES = 60_000
/** Less than twelve take one after the other, each two silences of a read. */
const REFUSED_WITHIN_MS = 60_000

describe('the service over an EventStoreDB (a protocol double) that fails under write load', function () {
  this.timeout(MINUTES * 20)
  let directory: string
  let double: ChildDouble
  let service: RunningService
  const ledgers = new Map<string, Map<string, Entry>>()

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tallytree-double-'))
    double = await startChildDouble(join(directory, 'log'))
    service = await startRunningService({ EVENTSTORE_URL: double.url })
  })
  after(async () => {
    await service.remove()
    await double.kill()
    await rm(directory, { recursive: true })
  })

  const faults: Readonly<Record<string, () => Promise<void>>> = {
    'is killed and comes back': async () => {
      await double.kill()
      await sleep(Math.random() * 500)
      await double.restart()
    },
    'freezes for a while': async () => {
      double.freeze()
      await sleep(500 + Math.random() * 2500)
      double.thaw()
    },
    'answers late': async () => {
      await double.misbehave({ answerLateMs: 100 + Math.random() * 300 })
      await sleep(500)
      await double.misbehave({ answerLateMs: 0 })
    },
    'loses appends and answers': () =>
      double.misbehave({ swallowAnswers: 10, ignoreAppends: 10, timeouts: 10 }),
    'reports conflicts, rightly and wrongly': () =>
      double.misbehave({ conflicts: 20, conflictThoughStored: 20 }),
    'drops its subscriptions': () => double.misbehave({ dropSubscriptions: true }),
  }

  /** As a client is told to do: the same again after a 503. */
  const retryWhileLocked =
    (isOver: () => boolean, told: { refused: number }) => async (path: string, body: unknown) => {
      for (;;) {
        if (isOver()) throw new Error('the load is over')
        const answer = await service.post(path, body)
        if (answer.status !== 503) return answer
        assert.equal(answer.headers.get('retry-after'), '1')
        told.refused += 1
        await sleep(20)
      }
    }

  for (const [what, fault] of Object.entries(faults).slice(0, COUNTS.outageKinds))
    it(`loses, doubles and invents nothing when it ${what}`, async () => {
      const { check, until200 } = checking(service)
      const told = { sent: 0, acknowledged: 0, refused: 0, sentAgain: 0 }
      for (let round = 0; round < ROUNDS; round += 1) {
        const name = `fault-${ledgers.size}`
        const projectId = `default/${name}`
        const ledger = new Map<string, Entry>()
        ledgers.set(projectId, ledger)
        let over = false
        const post = retryWhileLocked(() => over, told)
        const writing = writeUntilGone(post, projectId, name, ledger)
        await sleep(300 + Math.random() * 300)
        await fault()
        await sleep(500)
        over = true
        await writing

        await check(projectId, ledger)
        const { sent, acknowledged } = countsOf(ledger)
        told.sent += sent
        told.acknowledged += acknowledged
        told.sentAgain += await sendAgain(until200, ledger)
        assert.equal((await check(projectId, ledger)).calls.length, ledger.size)
      }
      assert.ok(told.acknowledged > 20)
      console.log(`      ${ROUNDS} rounds: ${JSON.stringify(told)}`)
    })

  it('refuses in time all who write to one stream while it is frozen, and says so in /health', async () => {
    const { until200 } = checking(service)
    const made = await until200('/api/runs/default/frozen', { name: 'one' })
    const { id } = made.json<{ id: string }>()
    const metric = async (step: number) => {
      const begun = performance.now()
      const { status } = await service.post(`/api/runs/default/frozen/${id}/metrics`, {
        metrics: { loss: step },
        step,
      })
      return { status, isInTime: performance.now() - begun < REFUSED_WITHIN_MS }
    }
    const steps = Array.from({ length: 12 }, (_, step) => step)
    double.freeze()
    const refused = await Promise.all(steps.map(metric))
    const health = await service.send('GET', '/health')
    double.thaw()

    assert.deepEqual(
      refused,
      steps.map(() => ({ status: 503, isInTime: true })),
    )
    assert.equal(health.status, 503)
    assert.match(health.text, /"writes":"the event log does not accept writes \(/)
    for (const step of steps)
      await until200(`/api/runs/default/frozen/${id}/metrics`, { metrics: { loss: step }, step })
    await until(async () => (await service.send('GET', '/health')).json<{ status: string }>().status === 'ok')
  })

  it('answers /health with 503 while it is away, also when no write is tried', async () => {
    const untilHealthIs = (status: number) =>
      until(async () => (await service.send('GET', '/health')).status === status)
    await double.kill()
    await untilHealthIs(503)

    await double.restart()
    await untilHealthIs(200)
  })

  it('has a log without gaps in the end, from which the same answers come again', async () => {
    const { allAnswers } = checking(service)
    const before = await allAnswers(ledgers.keys())

    assert.equal(await service.stop(), 0)
    await assertLogIsWhole(await openEventStoreDb(double.url), ledgers)
    await rm(join(service.dataDirectory, 'clickhouse'), { recursive: true })
    await service.restart()

    assert.deepEqual(await allAnswers(ledgers.keys()), before)
    assert.deepEqual((await service.send('GET', '/health')).json(), { status: 'ok' })
  })
})
