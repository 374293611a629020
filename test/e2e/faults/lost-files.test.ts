import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { cpSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { startRunningService, type RunningService } from '../../support/running-service.js'

const PROJECT = 'default/lost'
const started_at = '2026-01-01T12:00:00Z'

describe('a data directory without its log', () => {
  let service: RunningService
  before(async () => {
    service = await startRunningService()
    const inputs = { text: randomBytes(200_000).toString('hex') }
    const end = { id: 'c', ended_at: started_at, summary: {} }
    await service
      .in(PROJECT)
      .calls.batch([{ start: { id: 'c', op_name: 'op', started_at, inputs } }, { end }])
    const { status } = await service.in(PROJECT).usage.ofTraces()
    assert.equal(status, 200)
    await service.stop()
    cpSync(join(service.dataDirectory, 'events.db'), join(service.dataDirectory, 'kept.db'))
  })
  after(() => service.remove())

  const within = (...names: string[]) => join(service.dataDirectory, ...names)
  /** Every file with its size. */
  const files = () =>
    readdirSync(service.dataDirectory, { recursive: true, encoding: 'utf8' })
      .map((name) => [name, statSync(within(name)).isFile() ? statSync(within(name)).size : 'directory'])
      .sort()
  const removeLog = () => {
    for (const end of ['', '-wal', '-shm']) rmSync(within(`events.db${end}`), { force: true })
  }
  const refused = (pattern: RegExp) => assert.rejects(service.restart(), pattern)

  it('is refused when events.db is missing, and stays as it is', async () => {
    removeLog()
    const before = files()

    await refused(
      /events\.db is missing or empty, but there is data in clickhouse\/ and blobs\/.*Restore events\.db/,
    )

    assert.deepEqual(files(), before)
  })

  it('is refused when events.db is empty', async () => {
    writeFileSync(within('events.db'), '')
    await refused(/events\.db is missing or empty/)
    assert.equal(statSync(within('events.db')).size, 0)
  })

  it('is refused when only the read models or only the blobs are left', async () => {
    removeLog()
    for (const name of ['clickhouse', 'blobs']) {
      renameSync(within(name), within('away'))
      await refused(/events\.db is missing or empty/)
      renameSync(within('away'), within(name))
    }
  })

  it('is refused when events.db has no events', async () => {
    cpSync(within('kept.db'), within('events.db'))
    const db = new Database(within('events.db'))
    for (const table of ['events', 'streams', 'packs']) db.exec(`DELETE FROM ${table}`)
    db.close()
    await refused(/events\.db has no events, but/)
    renameSync(within('blobs'), within('away'))
    await refused(/the log has no events, but there is data in clickhouse\//)
    rmSync(within('blobs'), { recursive: true })
    renameSync(within('away'), within('blobs'))
  })

  it('has all its data once events.db is restored', async () => {
    removeLog()
    cpSync(within('kept.db'), within('events.db'))
    await service.restart()

    const { op_name } = await service.in(PROJECT).calls.read('c')
    assert.equal(op_name, 'op')
    await service.stop()
  })

  it('starts with an empty log when the read models and the blobs are moved away', async () => {
    removeLog()
    for (const name of ['clickhouse', 'blobs']) rmSync(within(name), { recursive: true })
    await service.restart()
  })
})
