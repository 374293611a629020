import assert from 'node:assert/strict'
import fc from 'fast-check'
import { openInMemoryBlobStore } from '../../../../src/adapters/blobs/in-memory-blob-store.js'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import { systemClock } from '../../../../src/adapters/system/system.js'
import type { Instant } from '../../../../src/kernel/codec/instant.js'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import type { ClickHouse } from '../../../../src/kernel/ports/clickhouse.js'
import type { EventStore } from '../../../../src/kernel/ports/event-store.js'
import { projections } from '../../../../src/projections/all.js'
import { digestsOf } from '../../../../src/projections/audit/queries.js'
import { migrate } from '../../../../src/projections/migrate.js'
import { rebuildOf, type Rebuild } from '../../../../src/projections/rebuilds/queries.js'
import { REBUILDS } from '../../../../src/projections/rebuilds/tables.js'
import { rebuild, rebuildLog } from '../../../../src/projections/rebuilds/rebuild.js'
import { tableIdentities } from '../../../../src/projections/rebuilds/table-identities.js'
import { startProjector, type Projector } from '../../../../src/projections/runtime/projector.js'
import { readTotalsState } from '../../../../src/projections/usage/totals-state.js'
import { runTotalsPass } from '../../../../src/projections/usage/totals-pass.js'
import { COUNTS } from '../../../counts.js'
import { openTestClickHouse } from '../../../support/engine.js'
import { arbitraryLog } from '../audit/arbitrary-log.js'
import { append, startOf } from '../given-log.js'

const WAIT_MS = 120_000
const NEVER = new AbortController().signal
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined }

const requested = (id: string): Rebuild => ({
  id,
  version: 0,
  state: 'requested',
  requested_position: 1n,
  requested_at: '2026-01-01T00:00:00.000000Z' as Instant,
  requested_by: 'administrator',
  started_at: null,
  finished_at: null,
  reached: 0n,
  target: 0n,
  events: 0,
  events_per_second: 0,
  remaining_seconds: null,
  rebuilt: {},
  reason: null,
})

describe('a rebuild', () => {
  let clickHouse: ClickHouse
  let eventStore: EventStore
  let projector: Projector
  const options = (database: ClickHouse) => ({
    eventStore,
    blobs: openInMemoryBlobStore(),
    clickHouse: database.writer,
    projections,
    log: quiet,
  })

  beforeEach(async () => {
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
    eventStore = openInMemoryEventStore()
    // The ids of streams are unique only within one log.
    for (const { type, data } of fc.sample(arbitraryLog, 2).at(-1)!)
      await append(eventStore, type, data as JsonObject)
    projector = await startProjector(options(clickHouse))
    await reachHead(projector)
  })
  afterEach(async () => {
    await projector.stop()
    await clickHouse.close()
  })

  const reachHead = async (waiting: Projector) =>
    assert.ok(await waiting.waitFor(await eventStore.head(), WAIT_MS), 'the projector does not continue')

  const digests = async ({ reader }: ClickHouse) => digestsOf(reader, await eventStore.head())

  const digestsOfLog = async () => {
    const fresh = await openTestClickHouse()
    await migrate(fresh.writer)
    const filling = await startProjector(options(fresh))
    await reachHead(filling)
    await filling.stop()
    const found = await digests(fresh)
    await fresh.close()
    return found
  }

  const run = (row: Rebuild, database = clickHouse, signal = NEVER) =>
    rebuild(
      { ...options(clickHouse), clickHouse: database, clock: systemClock, projector, signal },
      rebuildLog(database.writer, row),
    )

  it('replaces rows that are wrong', async () => {
    await clickHouse.writer.command('TRUNCATE TABLE calls')
    await clickHouse.writer.command('TRUNCATE TABLE object_versions')
    await run(requested('wrong'))

    assert.equal((await rebuildOf(clickHouse.writer, 'wrong'))?.state, 'finished')
    assert.deepEqual(await digests(clickHouse), await digestsOfLog())
  })

  it('has what is written while it runs', async () => {
    let isRunning = true as boolean
    const running = run(requested('busy')).finally(() => (isRunning = false))
    for (let n = 0; isRunning; n += 1) {
      await append(eventStore, 'CallStarted', startOf(`meanwhile-${n}`))
      await reachHead(projector)
    }
    await running

    assert.deepEqual(await digests(clickHouse), await digestsOfLog())
  })

  it('has totals of usage as of the position at which the tables are exchanged', async () => {
    const delayed: Pick<Projector, 'reached' | 'whileStopped'> = {
      reached: projector.reached,
      whileStopped: async (exchange) => {
        await append(eventStore, 'CallStarted', startOf('last'))
        await reachHead(projector)
        await runTotalsPass(clickHouse, projector.reached())
        await projector.whileStopped(exchange)
      },
    }
    await rebuild(
      { ...options(clickHouse), clickHouse, clock: systemClock, projector: delayed, signal: NEVER },
      rebuildLog(clickHouse.writer, requested('totals')),
    )
    const { complete } = await readTotalsState(clickHouse.reader)
    assert.equal(complete, await eventStore.head())
    const rows = await clickHouse.reader.query(`SELECT 1 AS one FROM usage_totals WHERE call_id = 'last'`)
    assert.equal(rows.length, 1)
  })

  it('can be cut off between any two exchanges, and events written in between are kept', async () => {
    const tables = Object.keys(await tableIdentities(clickHouse.writer, clickHouse.database)).length
    for (let cut = 0; cut < tables; cut += COUNTS.rebuildCutStep) {
      const id = `cut-${cut}`
      const stopping = new AbortController()
      let left = cut
      const command = (sql: string) => {
        if (sql.startsWith('EXCHANGE') && (left -= 1) < 0) stopping.abort()
        return stopping.signal.aborted ? Promise.reject(new Error('cut off')) : clickHouse.writer.command(sql)
      }
      await clickHouse.writer.insert(REBUILDS.rows([requested(id)]))
      const dying = { ...clickHouse, writer: { ...clickHouse.writer, command } }
      await assert.rejects(run(requested(id), dying, stopping.signal), /cut off/)

      await append(eventStore, 'CallStarted', startOf(`after-${id}`))
      await reachHead(projector)
      await projector.stop()
      projector = await startProjector(options(clickHouse))
      await append(eventStore, 'CallStarted', startOf(`later-${id}`))
      await reachHead(projector)
      const interrupted = await rebuildOf(clickHouse.writer, id)
      assert.equal(interrupted?.state, 'swapping')
      await run(interrupted)
      await reachHead(projector)

      assert.equal((await rebuildOf(clickHouse.writer, id))?.state, 'finished')
      assert.deepEqual(await digests(clickHouse), await digestsOfLog(), id)
    }
  })

  it('fails when its tables were dropped, and the tables in use remain complete', async () => {
    const lost = { ...requested('lost'), state: 'swapping', rebuilt: { calls: 'gone' } } as const
    await assert.rejects(run(lost), { name: 'TablesMissing' })

    await append(eventStore, 'CallStarted', startOf('afterwards'))
    await reachHead(projector)
    assert.deepEqual(await digests(clickHouse), await digestsOfLog())
  })
})
