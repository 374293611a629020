import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { SecretsUnavailable } from '../../kernel/ports/secret-store.js'
import { syncDirectory } from '../../kernel/atomic-file.js'
import { makePrivateDatabase } from '../../kernel/private-files.js'
import { retry } from '../../kernel/backoff.js'

/**
 * Envelopes are padded to this length, which is more than the longest and more than half a page, so that each page has
 * one row of the same length and is overwritten as a whole. Measured: without padding, SQLite leaves copies of moved
 * rows in unused parts of pages, even with secure_delete.
 */
const PADDED = 11_264
const PAGE_BYTES = 16_384

export const padded = (envelope: string): string => envelope.padEnd(PADDED)

// The envelope is the last column, so that it has the same place on every page.
const SCHEMA = `
  CREATE TABLE secrets (
    team      TEXT    NOT NULL,
    name      TEXT    NOT NULL,
    version   INTEGER NOT NULL,
    stored_at INTEGER NOT NULL, -- milliseconds since 1970
    confirmed INTEGER NOT NULL,
    envelope  TEXT    NOT NULL,
    UNIQUE (team, name, version)
  ) STRICT;
`

const VERSION = 1

/**
 * Opens the file with mode 0600, possibly while other processes have it open. Uses a rollback journal, which is deleted
 * with every commit: a write-ahead log would keep destroyed values and needs memory shared by all processes.
 *
 * @throws SecretsUnavailable
 */
export const openSecretsDatabase = async (path: string): Promise<Database.Database> => {
  try {
    makePrivateDatabase(path)
    const db = new Database(path, { timeout: 0 })
    await retryWhileLocked(() => {
      db.pragma(`page_size = ${PAGE_BYTES}`)
      db.pragma('journal_mode = DELETE')
      // Also syncs the directory: a deleted journal that reappears after a power loss would roll back a commit.
      db.pragma('synchronous = EXTRA')
      db.pragma('secure_delete = ON')
      db.transaction(() => ensureSchema(db)).immediate()
    })
    await syncDirectory(dirname(path))
    return db
  } catch (cause) {
    if (cause instanceof SecretsUnavailable || cause instanceof Database.SqliteError)
      throw new SecretsUnavailable(`${path}: ${cause.message}`, { cause })
    throw cause
  }
}

const ensureSchema = (db: Database.Database): void => {
  const version = db.pragma('user_version', { simple: true })
  if (version === VERSION) return
  if (version !== 0)
    throw new SecretsUnavailable(`has schema version ${String(version)}, this release supports ${VERSION}`)
  db.exec(SCHEMA)
  db.pragma(`user_version = ${VERSION}`)
}

const TIMEOUT_MS = 5000
const BACKOFF = { firstMs: 10, maxMs: 40 }

/** Waits up to five seconds for another process's lock, without blocking the event loop. */
export const retryWhileLocked = <A>(task: () => A): Promise<A> => {
  const until = performance.now() + TIMEOUT_MS
  return retry(
    task,
    (cause) => {
      if (!(cause instanceof Database.SqliteError)) return false
      if (/^SQLITE_(BUSY|LOCKED)/.test(cause.code) && performance.now() <= until) return true
      throw new SecretsUnavailable(`the secret store failed (${cause.code})`, { cause })
    },
    BACKOFF,
  )
}
