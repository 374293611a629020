import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSqliteEventStore } from '../../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { COUNTS } from '../../counts.js'
import { until } from '../../support/until.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'
import { assertLogIsWhole } from '../../support/faults/assert-log-is-whole.js'
import type { Entry, SeenCall } from '../../support/faults/ledger.js'
import { checking, countsOf } from '../../support/faults/write-and-check.js'
import { sendAgain, writeUntilGone } from '../../support/faults/write-load.js'

const ROUNDS = COUNTS.kills
const MINUTES = 60_000
/** So many writes are acknowledged, on average: every second time it is killed whatever it did until then. */
const EACH_ROUND = 20

describe('kill -9 under write load', function () {
  this.timeout(MINUTES * (20 + ROUNDS))
  let service: RunningService
  before(async () => (service = await startRunningService()))
  after(() => service.remove())

  it(`loses, doubles and invents nothing in ${ROUNDS} rounds, and the projection can be rebuilt`, async () => {
    const { check, allAnswers } = checking(service)
    const ledgers = new Map<string, Map<string, Entry>>()
    const told = { sent: 0, acknowledged: 0, seen: 0, sentAgain: 0 }

    for (let round = 0; round < ROUNDS; round += 1) {
      const projectId = `default/kill-${round}`
      const ledger = new Map<string, Entry>()
      ledgers.set(projectId, ledger)
      const writing = writeUntilGone(service.post, projectId, `r${round}`, ledger)
      if (round % 2 === 0) await until(() => countsOf(ledger).acknowledged >= 2 * EACH_ROUND)
      await sleep(50 + Math.random() * 450)
      await service.kill('SIGKILL')
      await writing
      await service.restart()

      const { sent, acknowledged } = countsOf(ledger)
      const before = await check(projectId, ledger)
      const complete = before.calls.filter(({ id, ended_at }) => ended_at !== null || !ledger.get(id)?.end)
      const finished = linesWith(before.lines, new Set(complete.map(({ id }) => id)))
      told.sent += sent
      told.acknowledged += acknowledged
      told.seen += before.calls.length + before.calls.filter(({ ended_at }) => ended_at !== null).length
      told.sentAgain += await sendAgain(service.post, ledger)
      const after = await check(projectId, ledger)
      for (const line of finished) assert.ok(after.lines.includes(line), 'a repeat changed what was there')
      assert.equal(after.calls.length, ledger.size)
    }

    assert.ok(told.acknowledged >= ROUNDS * EACH_ROUND, `only ${told.acknowledged} writes were acknowledged`)
    const answers = await allAnswers(ledgers.keys())
    assert.equal(await service.stop(), 0)
    await assertLogIsWhole(openSqliteEventStore(join(service.dataDirectory, 'events.db')), ledgers)
    await rm(join(service.dataDirectory, 'clickhouse'), { recursive: true })
    await service.restart()
    assert.deepEqual(await allAnswers(ledgers.keys()), answers)
    assert.deepEqual((await service.send('GET', '/health')).json(), { status: 'ok' })
    console.log(`      ${ROUNDS} rounds: ${JSON.stringify(told)}`)
  })
})

const linesWith = (lines: readonly string[], ids: ReadonlySet<string>): readonly string[] =>
  lines.filter((line) => ids.has((JSON.parse(line) as SeenCall).id))
