import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSqliteEventStore } from '../../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { COUNTS } from '../../counts.js'
import { until } from '../../support/until.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'
import { assertLogIsWhole } from '../../support/faults/assert-log-is-whole.js'
import {
  assertCountedOnce,
  assertNothingLostOrInvented,
  type Entry,
  type SeenCall,
  type SeenUsage,
} from '../../support/faults/ledger.js'
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

  /** Asks until it can be read. */
  const read = async (path: string, body: unknown): Promise<string> => {
    for (let tries = 0; ; tries += 1) {
      const { status, text } = await service.post(path, body)
      if (status === 200) return text
      assert.ok(status === 503 && tries < 60, `${path} answers ${status}: ${text.slice(0, 300)}`)
      await sleep(500)
    }
  }

  const readCalls = (project_id: string) =>
    read('/calls/stream_query', { project_id, sort_by: [{ field: 'id', direction: 'asc' }] })
  const readUsage = (project_id: string) => read('/trace/usage', { project_id, limit: 1_000_000 })

  const check = async (projectId: string, ledger: ReadonlyMap<string, Entry>) => {
    const lines = await readCalls(projectId)
    const calls = linesOf(lines).map((line) => JSON.parse(line) as SeenCall)
    assertNothingLostOrInvented(ledger, calls)
    assertCountedOnce(ledger, calls, JSON.parse(await readUsage(projectId)) as SeenUsage)
    return { lines: new Set(linesOf(lines)), calls }
  }

  it(`loses, doubles and invents nothing in ${ROUNDS} rounds, and the projection can be rebuilt`, async () => {
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
      for (const line of finished) assert.ok(after.lines.has(line), 'a repeat changed what was there')
      assert.equal(after.calls.length, ledger.size)
    }

    assert.ok(told.acknowledged >= ROUNDS * EACH_ROUND, `only ${told.acknowledged} writes were acknowledged`)
    const answers = await allAnswers([...ledgers.keys()])
    assert.equal(await service.stop(), 0)
    await assertLogIsWhole(openSqliteEventStore(join(service.dataDirectory, 'events.db')), ledgers)
    await rm(join(service.dataDirectory, 'clickhouse'), { recursive: true })
    await service.restart()
    assert.deepEqual(await allAnswers([...ledgers.keys()]), answers)
    assert.deepEqual((await service.send('GET', '/health')).json(), { status: 'ok' })
    console.log(`      ${ROUNDS} rounds: ${JSON.stringify(told)}`)
  })

  const allAnswers = async (projectIds: readonly string[]): Promise<readonly string[]> => {
    const answers: string[] = []
    for (const projectId of projectIds) answers.push(await readCalls(projectId), await readUsage(projectId))
    return answers
  }
})

const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '')

const linesWith = (lines: ReadonlySet<string>, ids: ReadonlySet<string>): readonly string[] =>
  [...lines].filter((line) => ids.has((JSON.parse(line) as SeenCall).id))

const countsOf = (ledger: ReadonlyMap<string, Entry>) => {
  const entries = [...ledger.values()]
  const count = (holds: (entry: Entry) => boolean) => entries.filter(holds).length
  return {
    sent: entries.length + count(({ end }) => end !== null),
    acknowledged:
      count(({ startAcknowledged }) => startAcknowledged) + count(({ endAcknowledged }) => endAcknowledged),
  }
}
