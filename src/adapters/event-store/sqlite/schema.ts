import type { Database } from 'better-sqlite3'

// Positions are assigned by the single writer inside the transaction: the order of commits is the order of the log.
// Both indexes grow at their right edge while streams are new, which keeps a commit to few pages.
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
    UNIQUE (sid, id)
  ) STRICT;
`

const VERSION = 1

/** Makes the tables in a new file; refuses a file whose layout this program does not know. */
export const ensureSchema = (db: Database): void => {
  const version = db.pragma('user_version', { simple: true })
  if (version === VERSION) return
  if (version !== 0)
    throw new Error(`the event store has layout ${String(version)}, this program knows ${VERSION}`)
  db.exec(SCHEMA)
  db.pragma(`user_version = ${VERSION}`)
}
