import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { openInMemoryBlobStore } from '../../../../src/adapters/blobs/in-memory-blob-store.js'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import { callStream } from '../../../../src/domain/calls/call.js'
import { newEvent } from '../../../../src/kernel/event.js'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import type { ClickHouse } from '../../../../src/kernel/ports/clickhouse.js'
import { projections } from '../../../../src/projections/all.js'
import { callsById } from '../../../../src/projections/calls/read.js'
import { migrate } from '../../../../src/projections/migrate.js'
import { startProjector } from '../../../../src/projections/runtime/projector.js'
import { openTestClickHouse } from '../../../support/engine.js'
import { PROJECT, startOf } from '../given-log.js'

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined }

describe('the rows of a call', () => {
  let clickHouse: ClickHouse
  before(async () => {
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
  })
  after(() => clickHouse.close())

  const blobs = openInMemoryBlobStore()

  const projected = async (id: string, events: readonly (readonly [string, JsonObject])[]) => {
    const eventStore = openInMemoryEventStore()
    const stream = callStream(PROJECT, id)
    const cause = { correlationId: randomUUID(), causationId: randomUUID(), actor: 'test' }
    const positions: bigint[] = []
    for (const [revision, [type, data]] of events.entries()) {
      const event = newEvent(randomUUID(), { type, data: { project_id: PROJECT, id, ...data } }, cause)
      await eventStore.append(stream, revision === 0 ? 'none' : BigInt(revision - 1), [event])
      positions.push(await eventStore.head())
    }
    await clickHouse.writer.command('TRUNCATE TABLE checkpoints')
    const projector = await startProjector({
      eventStore,
      blobs,
      clickHouse: clickHouse.writer,
      projections,
      log: quiet,
    })
    assert.ok(await projector.waitFor(await eventStore.head(), 20_000))
    await projector.stop()
    return async (event = events.length) =>
      (await callsById(clickHouse.reader)(PROJECT, [id], positions[event - 1]!))[0]
  }

  const end = {
    ended_at: '2026-01-01T00:00:02.000000Z',
    output: { answer: 42 },
    summary: { usage: {} },
    exception: null,
    wb_run_step_end: 7,
    usage: { models: [], status_total: null },
    start: null,
    spilled: {},
  }

  it('have the end and the names that came before the start', async () => {
    const callAt = await projected('late', [
      ['CallEnded', end],
      ['CallRenamed', { display_name: 'first', started_at: null }],
      ['CallRenamed', { display_name: 'second', started_at: null }],
      ['CallStarted', startOf('late')],
    ])
    const call = await callAt()
    assert.equal(call?.display_name, 'second')
    assert.equal(call.output, '{"answer":42}')
    assert.equal(call.wb_run_step_end, 7)
    assert.equal(await callAt(3), undefined)
  })

  it('have a spilled output that came before the start', async () => {
    const content = Buffer.from(JSON.stringify('long '.repeat(1000)))
    const digest = await blobs.put(content)
    const output = { digest, size: content.length, canonical: digest }
    const callAt = await projected('spilled', [
      ['CallEnded', { ...end, output: null, spilled: { output } }],
      ['CallStarted', startOf('spilled')],
    ])
    assert.equal((await callAt())?.output, content.toString())
  })

  it('have names and a deletion of a log that does not repeat the time of the start', async () => {
    const callAt = await projected('old', [
      ['CallStarted', startOf('old')],
      ['CallRenamed', { display_name: 'first' }],
      ['CallRenamed', { display_name: null }],
      ['CallRenamed', { display_name: 'third' }],
      ['CallDeleted', { trace_id: 'old' }],
    ])
    const names = [null, 'first', null, 'third']
    for (const [index, name] of names.entries()) assert.equal((await callAt(index + 1))?.display_name, name)
    assert.equal(await callAt(5), undefined)
  })

  it('are none without a start', async () => {
    const callAt = await projected('never', [
      ['CallEnded', end],
      ['CallRenamed', { display_name: 'name', started_at: null }],
      ['CallDeleted', { trace_id: null, started_at: null }],
    ])
    assert.equal(await callAt(), undefined)
    const rows = await clickHouse.writer.query("SELECT id FROM calls WHERE id = 'never'")
    assert.deepEqual(rows, [])
  })
})
