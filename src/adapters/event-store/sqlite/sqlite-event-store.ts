import Database from 'better-sqlite3'
import { announceErased } from '../../../kernel/erased-streams.js'
import type { EventStore } from '../../../kernel/ports/event-store.js'
import { StoreUnavailable } from '../../../kernel/ports/event-store-errors.js'
import { noHealthReports } from '../../../kernel/ports/health.js'
import { commitSignal } from '../commit-signal.js'
import { pagedReads, type Pages } from '../paged-reads.js'
import { serialise } from '../serialise.js'
import { appendWriter } from './append-writer.js'
import { groupCommit } from './group-commit.js'
import { openEraser } from './eraser.js'
import { eventTexts } from './event-texts.js'
import { openDatabase, unusable, type OpenDatabase } from './open-database.js'
import { startPacker, type Packing } from './packer.js'
import { readPages } from './read-pages.js'
import { recentEvents } from './recent-events.js'
import { openSealer } from './sealer.js'
import { streamIndex } from './stream-index.js'

/**
 * The log in one SQLite file, written by this process alone. It works on the main thread, where a commit takes less than
 * the way to a worker and back; only the sync of the disk, which takes longest, goes on in the background. With `packing`,
 * older events are packed meanwhile.
 *
 * @throws StoreUnavailable when another process writes to the file
 */
export const openSqliteEventStore = (
  path: string,
  health = noHealthReports,
  packing?: Packing,
): EventStore => {
  const database = openDatabase(path)
  try {
    return sqliteEventStoreOn(database, health, packing)
  } catch (cause) {
    database.close()
    throw unusable(path, cause)
  }
}

export const sqliteEventStoreOn = (
  { db, file, sync, requireInPlace, tryRoom, close }: OpenDatabase,
  health = noHealthReports,
  packing?: Packing,
): EventStore => {
  const commits = commitSignal()
  const streams = streamIndex(db, health)
  const writer = appendWriter(db, streams)
  const recent = recentEvents()
  const group = groupCommit({ db, writer, requireInPlace, tryRoom, sync, commits, recent, health })
  const texts = eventTexts(db)
  let erasures = 0
  const packer =
    packing &&
    startPacker(
      { db, group, commits, health, sealer: openSealer(db, texts.read), erasures: () => erasures },
      packing,
    )

  let closing: Promise<void> | undefined

  const requireOpen = () => {
    if (commits.isClosed()) throw new StoreUnavailable('the event store is closed')
  }

  /** A damaged page is reported until the next start: reads of other pages go on. */
  const reading = <Read>(read: () => Read): Read => {
    requireOpen()
    try {
      return read()
    } catch (cause) {
      if (!(cause instanceof Database.SqliteError)) throw cause
      const failure = new StoreUnavailable(
        `${db.name} cannot be read (${cause.code}: ${cause.message}): restore it from a backup`,
        { cause },
      )
      health.report('event-log-reads', failure)
      throw failure
    }
  }

  const whileOpen = (pages: Pages): Pages => ({
    ofLog: (after, limit, types, withSeals) =>
      reading(
        () =>
          (withSeals === true ? undefined : recent.page(after, limit, types)) ??
          pages.ofLog(after, limit, types, withSeals),
      ),
    backwards: (...range) => reading(() => pages.backwards(...range)),
    ofStream: (name, range, limit) =>
      reading(
        () =>
          (range.backwards || range.withSeals ? undefined : recent.ofStream(name, range.from ?? 0n, limit)) ??
          pages.ofStream(name, range, limit),
      ),
  })

  const pages = readPages({ db, streams, texts: texts.read, durable: group.durable, health })
  const { withId } = pages
  const findEvent: EventStore['findEvent'] = withId && (async (id) => reading(() => withId(id)))

  const eraser = openEraser({
    db,
    file,
    texts: texts.read,
    durable: group.durable,
    requireWritable: () => {
      requireOpen()
      group.requireWritable()
    },
    forget: (erased) => {
      erasures += 1
      recent.forget()
      texts.forget()
      announceErased(store, erased)
    },
  })

  const store: EventStore = {
    append: (stream, expected, events) =>
      new Promise((resolve, reject) => {
        requireOpen()
        group.queue({ stream, expected, given: events, ...serialise(stream, events), resolve, reject })
      }),
    ...pagedReads(whileOpen(pages), commits),
    ...(findEvent && { findEvent }),
    erase: eraser.erase,
    readPlaces: async (after, limit) => reading(() => pages.places(after, limit)),
    checkWritable: async () => {
      requireOpen()
      group.checkWritable()
    },
    head: async () => {
      requireOpen()
      return BigInt(group.durable())
    },
    close: () => {
      commits.close()
      closing ??= Promise.all([packer?.stop(), group.finished(), eraser.stopped()]).then(close)
      return closing
    },
  }
  return store
}
