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
    seal        BLOB, -- see row-seal.ts; NULL until an event of an earlier release has got one
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

/** Earlier releases refuse it. */
const VERSION = 4
/** Version 3 had packs. Version 1 had the stream before the id in an index, so that events are found by both only. */
const UNSEALED_VERSIONS: readonly unknown[] = [1, 2, 3]

export const findsByIdAlone = (db: Database): boolean =>
  db.prepare("SELECT name FROM pragma_index_info('sqlite_autoindex_events_2')").pluck().get() === 'id'

/** The application id of files in which deleted content was always overwritten. */
const OVERWRITES = 0x54_74_6c_31

/** Whether deleted content of earlier releases may be anywhere in the file. */
export const mayHaveRemains = (db: Database): boolean =>
  db.pragma('application_id', { simple: true }) !== OVERWRITES

/** Rewrites the whole file. Also gives a file of the first releases the layout in which it can shrink. */
export const compact = (db: Database): void => {
  db.pragma('auto_vacuum = INCREMENTAL')
  db.exec('VACUUM')
  db.pragma(`application_id = ${OVERWRITES}`)
}

/** Makes the tables in a new file; refuses a file whose layout, or whose events, this program does not know. */
export const ensureSchema = (db: Database): void => {
  const version = db.pragma('user_version', { simple: true })
  if (version === 0) {
    db.exec(SCHEMA)
    db.pragma(`application_id = ${OVERWRITES}`)
  } else if (version === VERSION || UNSEALED_VERSIONS.includes(version)) refuseLaterEvents(db)
  else
    throw new StoreUnavailable(
      `the event log has schema version ${String(version)}, this release supports ${VERSION}`,
    )
  db.exec(INDEX_BY_TYPE)
  db.exec(PACKS)
  if (version === VERSION) return
  if (version !== 0) db.exec('ALTER TABLE events ADD COLUMN seal BLOB')
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
