import type { Database } from 'better-sqlite3'
import { StoreUnavailable } from '../../../kernel/ports/event-store-errors.js'
import { requireKnownSchema } from '../known-schema.js'

// Positions are assigned by the single writer inside the transaction: the order of commits is the order of the log.
// Both indexes grow at their right edge, the one while streams are new, the other as ids begin with the time: that keeps
// a commit to few pages.
const SCHEMA = `
  CREATE TABLE streams (
    sid  INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
  ) STRICT;

  CREATE TABLE events (
    position    INTEGER PRIMARY KEY,
    sid         INTEGER NOT NULL,
    revision    INTEGER NOT NULL,
    id          TEXT    NOT NULL,
    type        TEXT    NOT NULL,
    data        TEXT    NOT NULL,
    metadata    TEXT    NOT NULL,
    recorded_at INTEGER NOT NULL, -- milliseconds since 1970
    UNIQUE (sid, revision),
    UNIQUE (id, sid)
  ) STRICT;
`

/** Types that most events of a large log have. They are dense, so a search finds one without an index. */
export const UNINDEXED_TYPES = ['CallStarted', 'CallEnded']
/** In a query, this makes SQLite use the index. */
export const IS_INDEXED_TYPE = `type NOT IN (${UNINDEXED_TYPES.map((type) => `'${type}'`).join(', ')})`

/** Files of earlier releases get it too; they ignore it. */
const INDEX_BY_TYPE = `
  CREATE INDEX IF NOT EXISTS events_by_type ON events (type, position) WHERE ${IS_INDEXED_TYPE}
`

/** Data and metadata of older events, which are empty in their rows. */
const PACKS = `
  CREATE TABLE IF NOT EXISTS packs (
    last  INTEGER PRIMARY KEY, -- positions of the last and the first event
    first INTEGER NOT NULL,
    texts BLOB    NOT NULL -- see pack.ts
  ) STRICT
`

/** A file without packs, which earlier releases can open. */
const VERSION = 2
const VERSION_WITH_PACKS = 3
/** Had the stream before the id, so that events are found by both only. All else is the same: the index stays as it is. */
const VERSION_OF_BEFORE = 1

export const findsByIdAlone = (db: Database): boolean =>
  db.prepare("SELECT name FROM pragma_index_info('sqlite_autoindex_events_2')").pluck().get() === 'id'

/** Inside a transaction. From now on earlier releases refuse the file. */
export const markAsPacked = (db: Database): void => {
  db.pragma(`user_version = ${VERSION_WITH_PACKS}`)
}

/** Makes the tables in a new file; refuses a file whose layout, or whose events, this program does not know. */
export const ensureSchema = (db: Database): void => {
  const version = db.pragma('user_version', { simple: true })
  if (version === VERSION || version === VERSION_OF_BEFORE || version === VERSION_WITH_PACKS) {
    refuseLaterEvents(db)
    db.exec(INDEX_BY_TYPE)
    db.exec(PACKS)
    return
  }
  if (version !== 0)
    throw new StoreUnavailable(
      `the event log has schema version ${String(version)}, this release supports ${VERSION_WITH_PACKS}`,
    )
  db.exec(SCHEMA)
  db.exec(INDEX_BY_TYPE)
  db.exec(PACKS)
  db.pragma(`user_version = ${VERSION}`)
}

// Every release writes its own version into each event and refuses a newer one, so the last event has the highest. The
// last event is never packed.
const LAST_VERSION = `
  SELECT json_extract(metadata, '$.schemaVersion')
  FROM (SELECT metadata FROM events ORDER BY position DESC LIMIT 1)
  WHERE json_valid(metadata)
`

const refuseLaterEvents = (db: Database): void => {
  const version = db.prepare(LAST_VERSION).pluck().get()
  if (typeof version === 'number') requireKnownSchema(version)
}
