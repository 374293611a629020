import assert from 'node:assert/strict'
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { pagesOf as logPages } from '../../../../src/cli/log-digest.js'
import { openLogCopy } from '../../../../src/adapters/event-store/sqlite/log-copy.js'
import { openSqliteEventStore } from '../../../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import type { EventStore, RecordedEvent } from '../../../../src/kernel/ports/event-store.js'
import { StoreUnavailable, StreamUnreadable } from '../../../../src/kernel/ports/event-store-errors.js'
import { arbitraryEvent } from '../../../contract/event-store/arbitrary-events.js'
import { collect } from '../../../contract/event-store/collect.js'
import { temporaryDirectory, type TemporaryDirectory } from './temporary-directory.js'

const STREAMS = 300
const EVENTS = 12
const PAGE = 16_384

describe('an event log with a damaged page', () => {
  let directory: TemporaryDirectory
  let path: string
  let whole: readonly RecordedEvent[]
  const unreadable: RecordedEvent[] = []
  const failed: string[] = []
  const health = {
    report: (_part: string, error: unknown) => {
      if (error !== null) failed.push((error as Error).message)
    },
    unreadable: (event: RecordedEvent) => void unreadable.push(event),
  }
  before(async () => {
    directory = await temporaryDirectory()
    path = join(directory.path, 'events.db')
    const store = openSqliteEventStore(path)
    const appended: Promise<unknown>[] = []
    for (let n = 0; n < EVENTS; n += 1)
      for (let of = 0; of < STREAMS; of += 1)
        appended.push(
          store.append(`stream-${of}`, n === 0 ? 'none' : BigInt(n - 1), [
            arbitraryEvent({
              type: of % 2 === 0 ? 'CallStarted' : 'Other',
              data: { text: 'x'.repeat(400), n },
            }),
          ]),
        )
    await Promise.all(appended)
    whole = await collect(store.readAll())
    await store.close()
    assert.equal(whole.length, STREAMS * EVENTS)
    copyFileSync(path, `${path}.whole`)
  })
  beforeEach(() => {
    unreadable.length = 0
    failed.length = 0
    for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
    copyFileSync(`${path}.whole`, path)
  })
  after(() => directory.remove())

  const pagesOf = (name: string): readonly number[] => {
    const db = new Database(`${path}.whole`, { readonly: true })
    try {
      return db
        .prepare<[string], number>(
          "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path",
        )
        .pluck()
        .all(name)
    } finally {
      db.close()
    }
  }
  const damage = (page: number, bytes: number, at = 0) => {
    const file = readFileSync(path)
    file.fill(0xa7, (page - 1) * PAGE + at, (page - 1) * PAGE + at + bytes)
    writeFileSync(path, file)
  }
  const opened = async (use: (store: EventStore) => Promise<void>) => {
    const store = openSqliteEventStore(path, health)
    try {
      await use(store)
    } finally {
      await store.close()
    }
  }
  /** All events of the log are there, those of the page as unreadable ones with their places. */
  const assertAllThere = (events: readonly RecordedEvent[]) => {
    // What a changed row has in place of its stream is unknown.
    const isKnown = ({ unreadable }: RecordedEvent) => unreadable !== 'it is not as it was written'
    assert.equal(events.length, whole.length)
    events.forEach((event, index) => {
      const { position, stream, revision } = whole[index]!
      assert.equal(event.position, position)
      if (isKnown(event)) assert.deepEqual([event.stream, event.revision], [stream, revision])
    })
    const readable = events.filter((event) => event.unreadable === undefined)
    assert.deepEqual(
      readable,
      whole.filter(({ position }) => readable.some((event) => event.position === position)),
    )
    assert.ok(readable.length < events.length)
  }

  for (const [kind, bytes, at] of [
    ['whose head is overwritten', 4096, 0],
    ['whose middle is overwritten', 4096, 8192],
    ['that is overwritten', PAGE, 0],
  ] as const)
    it(`is read around a page of events ${kind}`, async () => {
      const pages = pagesOf('events')
      damage(pages[pages.length >> 1]!, bytes, at)
      await opened(async (store) => {
        const events = await collect(store.readAll())
        assertAllThere(events)
        const lost = events.filter((event) => event.unreadable !== undefined)
        assert.deepEqual(
          new Set(unreadable.map(({ position }) => position)),
          new Set(lost.map(({ position }) => position)),
        )

        for (let of = 0; of < STREAMS; of += 1) {
          const stream = `stream-${of}`
          const first = lost.find(({ position }) => whole[Number(position) - 1]?.stream === stream)
          const read = collect(store.readStream(stream))
          if (first === undefined) assert.equal((await read).length, EVENTS)
          else
            await assert.rejects(
              read,
              (error) => error instanceof StreamUnreadable && error.position === first.position,
            )
          const shown = await collect(store.readStream(stream, { withUnreadable: true, backwards: true }))
          assert.equal(shown.length, EVENTS)
        }
        await store.append('other', 'none', [arbitraryEvent()])
      })
    })

  it('has the events of the page listed in a check of the file', () => {
    const pages = pagesOf('events')
    damage(pages[pages.length >> 1]!, PAGE)
    const copy = openLogCopy(path)
    const written = [...logPages(copy)].flat()
    copy.close()
    assert.deepEqual(
      written.map(({ position, stream, revision }) => [position, stream, revision]),
      whole.map(({ position, stream, revision }) => [Number(position), stream, Number(revision)]),
    )
    assert.ok(written.some(({ data }) => data === ''))
  })

  it('refuses the streams of a damaged index, and reads the log and other streams', async () => {
    const pages = pagesOf('sqlite_autoindex_events_1')
    damage(pages[pages.length >> 1]!, PAGE)
    await opened(async (store) => {
      assert.deepEqual(await collect(store.readAll()), whole)
      const names = Array.from({ length: STREAMS }, (_, of) => `stream-${of}`)
      const read = await Promise.allSettled(names.map((name) => collect(store.readStream(name))))
      const refused = names.filter((_, index) => read[index]?.status === 'rejected')
      assert.ok(refused.length > 0 && refused.length < STREAMS, String(refused.length))
      for (const result of read)
        if (result.status === 'fulfilled') assert.equal(result.value.length, EVENTS)
        else
          assert.match(
            String(result.reason),
            /stream stream-\d+ cannot be read: an index of events\.db is damaged/,
          )
      assert.match(failed[0] ?? '', /^stream stream-\d+ cannot be read/)
    })
  })

  it('names a revision that is missing in a stream, and its place in the log', async () => {
    const db = new Database(path)
    const at = whole.find(({ stream, revision }) => stream === 'stream-7' && revision === 3n)!.position
    db.prepare('DELETE FROM events WHERE position = ?').run(at)
    db.close()
    await opened(async (store) => {
      await assert.rejects(collect(store.readStream('stream-7')), /revision 3 is missing/)
      const events = await collect(store.readAll())
      assert.equal(events.length, whole.length)
      assert.equal(events[Number(at) - 1]?.unreadable, 'its page of events.db is damaged')
    })
  })

  it('is refused with what to do when its last page is damaged', () => {
    damage(pagesOf('events').at(-1)!, PAGE)
    assert.throws(
      () => openSqliteEventStore(path),
      (error) => error instanceof StoreUnavailable && /SQLITE_CORRUPT.*tallytree replay/.test(error.message),
    )
  })
})
