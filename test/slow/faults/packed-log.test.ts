import assert from 'node:assert/strict'
import { copyFile, cp, mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { tallytree } from '../../support/command.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'
import { scratchDirectory } from '../../support/scratch.js'
import { packedIn } from '../../unit/adapters/event-store/packed-store.js'

const PROJECT = 'team/packed'
const CALLS_A_BATCH = 100
/** About as many events as are never packed. */
const BATCHES = 41
const BATCHES_MORE = 10
const PACKED = 1500

const callsOf = (batch: number) =>
  Array.from({ length: CALLS_A_BATCH }, (_, at) => ({
    project_id: PROJECT,
    id: `call-${batch}-${at}`,
    trace_id: `trace-${batch}`,
    op_name: 'op',
    started_at: '2026-01-01T12:00:00Z',
    ended_at: '2026-01-01T12:00:01Z',
    attributes: {},
    inputs: { text: `漢字 "${batch}" 😀 `.repeat(at) },
    output: batch,
    summary: { usage: { model: { requests: 1, prompt_tokens: at } } },
  }))

const inDatabase = <A>(directory: string, use: (db: Database.Database) => A): A => {
  const db = new Database(join(directory, 'events.db'))
  const used = use(db)
  db.close()
  return used
}

/** Without the seals: copies over HTTP get new ones. */
const rowsIn = (directory: string) =>
  inDatabase(directory, (db) =>
    db
      .prepare(
        'SELECT position, sid, revision, id, type, data, metadata, recorded_at FROM events ORDER BY position',
      )
      .raw()
      .all(),
  )

describe('a service that packs its log', () => {
  let service: RunningService
  let directory: string
  before(async () => {
    service = await startRunningService()
    directory = await scratchDirectory()
  })
  after(() => service.remove())

  const write = async (from: number, batches: number) => {
    for (let batch = from; batch < from + batches; batch += 1) {
      const answer = await service.post(`/v2/${PROJECT}/calls/complete`, { batch: callsOf(batch) })
      assert.equal(answer.status, 200, answer.text)
    }
  }

  const replay = (name: string, from: string, ...more: readonly string[]) =>
    tallytree(['replay', '--from', from, '--to', join(directory, name), ...more], {
      TALLYTREE_API_KEY: service.key,
    })

  /** Copies a log. Answers its rows, which are not packed, and its digests. */
  const copied = async (name: string, from: string, ...more: readonly string[]) => {
    const { code, stderr } = await replay(name, from, ...more)
    assert.equal(code, 0, stderr)
    const to = join(directory, name)
    const digests = JSON.parse(await readFile(join(to, 'digests.json'), 'utf8')) as {
      readonly position: number
      readonly log: string
    }
    return { rows: rowsIn(to), digests }
  }

  const untilStoppedWithPacks = async () => {
    for (;;) {
      await service.stop()
      if (inDatabase(service.dataDirectory, packedIn).length >= PACKED) return
      await service.restart()
      await sleep(3000)
    }
  }

  it('gives the same copies, digests and read models from the packed log, also while it packs', async () => {
    await write(0, BATCHES)
    const before = await copied('before', service.address)
    await write(BATCHES, BATCHES_MORE)
    const during = await copied('during', service.address)
    await untilStoppedWithPacks()
    const { position } = before.digests
    const after = await copied('after', service.dataDirectory)
    const prefix = await copied('prefix', service.dataDirectory, '--upto', String(position))

    assert.deepEqual(during.rows.slice(0, before.rows.length), before.rows)
    assert.deepEqual(after.rows.slice(0, during.rows.length), during.rows)
    assert.equal(prefix.digests.log, before.digests.log)

    const packed = join(directory, 'packed')
    await mkdir(packed)
    await copyFile(join(service.dataDirectory, 'events.db'), join(packed, 'events.db'))
    await cp(join(service.dataDirectory, 'blobs'), join(packed, 'blobs'), { recursive: true })
    await copyFile(join(directory, 'during', 'digests.json'), join(packed, 'digests.json'))
    const verified = await tallytree(['verify', packed])
    assert.equal(verified.code, 0, verified.stdout + verified.stderr)
    assert.match(verified.stdout, /^verified \d+ events: all equal$/m)

    await rm(join(service.dataDirectory, 'clickhouse'), { recursive: true })
    await service.restart()
    const against = await tallytree(['verify', packed, '--against', service.address], {
      TALLYTREE_API_KEY: service.key,
    })
    assert.equal(against.code, 0, against.stdout + against.stderr)
  })

  it('has its corrupt packs named by verify and by replay', async () => {
    const packed = join(directory, 'packed')
    const [first, last] = inDatabase(packed, (db) => {
      db.exec(
        'UPDATE packs SET texts = substr(texts, 1, length(texts) - 9) WHERE rowid = (SELECT min(last) FROM packs)',
      )
      return db.prepare<[], [number, number]>('SELECT first, last FROM packs ORDER BY last').raw().get()!
    })

    const verified = await tallytree(['verify', packed])
    assert.equal(verified.code, 1, verified.stdout + verified.stderr)
    const found = verified.stdout.matchAll(/^position (\d+): stream ".*": its pack is damaged$/gm)
    const named = Array.from(found, ([, at]) => Number(at))
    assert.ok(named.length > 20 && named[0] === first && named.every((at) => at <= last), verified.stdout)
    const { code, stderr } = await replay('corrupt', packed)
    assert.equal(code, 2)
    assert.ok(
      new RegExp(`the event at position ${first} .* cannot be copied: its pack is damaged; restore it`).test(
        stderr,
      ),
      stderr,
    )
  })
})
