import assert from 'node:assert/strict'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openFileBlobStore } from '../../../src/adapters/blobs/file-blob-store.js'
import { openHealth } from '../../../src/application/health.js'
import { BlobsUnavailable, BlobTooLarge } from '../../../src/kernel/ports/blobs.js'
import { ClickHouseUnavailable, ReadTooExpensive } from '../../../src/kernel/ports/clickhouse.js'
import {
  AppendOutcomeUnknown,
  ConcurrencyConflict,
  StoreUnavailable,
} from '../../../src/kernel/ports/event-store-errors.js'
import { scratchDirectory } from '../../support/scratch.js'

const full = new StoreUnavailable('the event store failed to write', {
  cause: Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' }),
})

describe('the health of the service', () => {
  const given = () => {
    const logged: string[] = []
    const note = (event: string) => void logged.push(event)
    let [time, checks] = [0, 0]
    let refusal: Error | undefined
    const health = openHealth({ error: note, info: note }, () => time)
    const store = {
      checkWritable: async () => {
        checks += 1
        if (refusal !== undefined) throw refusal
      },
    }
    const later = (ms: number, error?: Error) => {
      time += ms
      refusal = error
      return health.writesBlocked(store)
    }
    return { health, logged, later, checks: () => checks }
  }

  it('has the reason of the last failed append until one succeeds, and logs each change once', async () => {
    const { health, logged, later } = given()
    health.report('event-log-writes', null)
    assert.equal(await later(0), undefined)
    health.report('event-log-writes', full)
    health.report('event-log-writes', full)
    assert.match((await later(0, full)) ?? '', /\(SQLITE_FULL\)$/)
    health.report('event-log-writes', new AppendOutcomeUnknown('no answer'))
    assert.match(health.reason('event-log-writes') ?? '', /\(AppendOutcomeUnknown\)$/)
    health.report('event-log-writes', null)
    assert.equal(await later(0), undefined)
    assert.deepEqual(logged, ['log.writes_failed', 'log.writes_resumed'])
  })

  it('checks the store when no append succeeded in the last seconds, at most once a second', async () => {
    const { health, logged, later, checks } = given()
    health.report('event-log-writes', null)
    assert.deepEqual([await later(4000), checks()], [undefined, 0])

    assert.match((await later(2000, full)) ?? '', /\(SQLITE_FULL\)$/)
    assert.match((await later(999)) ?? '', /\(SQLITE_FULL\)$/)
    assert.equal(checks(), 1)

    assert.equal(await later(1), undefined)
    assert.equal(checks(), 2)
    assert.deepEqual(logged, ['log.writes_failed', 'log.writes_resumed'])
  })

  it('keeps failed reads of the log apart from failed writes', () => {
    const { health, logged } = given()
    const numbered = Object.assign(new Error('unavailable'), { code: 14 })
    health.report('event-log-reads', new StoreUnavailable('away', { cause: numbered }))
    assert.match(health.reason('event-log-reads') ?? '', /cannot be read \(StoreUnavailable\)$/)
    health.report('event-log-writes', full)
    health.report('event-log-reads', null)
    assert.equal(health.reason('event-log-reads'), undefined)
    assert.deepEqual(logged, ['log.reads_failed', 'log.writes_failed', 'log.reads_resumed'])
  })

  it('has the reason why older events are not packed', () => {
    const { health, logged } = given()
    health.report('event-log-packs', full)
    assert.match(health.reason('event-log-packs') ?? '', /not packed \(SQLITE_FULL\)$/)
    health.report('event-log-packs', null)
    assert.deepEqual(logged, ['log.packing_failed', 'log.packing_resumed'])
  })

  it('does not change with errors that do not blame a part', () => {
    const { health, logged } = given()
    health.report('event-log-writes', new ConcurrencyConflict('stream-1', 'none', 0n))
    health.report('reads', new ReadTooExpensive('memory'))
    health.report('blobs', new BlobTooLarge(1))
    assert.deepEqual(logged, [])
  })

  it('has the reason of a failed read of the read models', () => {
    const { health, logged } = given()
    const missing = new ClickHouseUnavailable('busy', 'ClickHouse failed: Error (107)')
    health.report('reads', missing)
    assert.equal(health.reason('reads'), missing.message)
    health.report('reads', null)
    assert.equal(health.reason('reads'), undefined)
    assert.deepEqual(logged, ['reads.failed', 'reads.resumed'])
  })

  it('has the reason why large content was not kept until some is', async () => {
    const { health, logged } = given()
    const directory = await scratchDirectory()
    const move = (from: string, to: string) => rename(join(directory, from), join(directory, to))
    const blobs = openFileBlobStore(join(directory, 'blobs'), health)
    const put = () => blobs.put(Buffer.from('content'))

    await move('blobs', 'elsewhere')
    await assert.rejects(put(), BlobsUnavailable)
    assert.match(health.reason('blobs') ?? '', /\(ENOENT\)$/)
    await move('elsewhere', 'blobs')
    await put()
    assert.equal(health.reason('blobs'), undefined)
    assert.deepEqual(logged, ['blobs.writes_failed', 'blobs.writes_resumed'])
    await rm(directory, { recursive: true })
  })
})
