import { closeSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { SecretsUnavailable } from '../../domain/ports/secret-store.js'
import { syncDirectory } from '../../runtime/atomic-file.js'
import { patiently } from './patiently.js'

/**
 * Characters of every envelope, with spaces behind it: more than the longest has, and more than half a page. Measured:
 * without this, SQLite leaves copies of rows in the unused parts of pages where it moved them, secure_delete or not. Rows
 * of one length, one to a page, are overwritten whole.
 */
const PADDED = 11_264
const PAGE_BYTES = 16_384

export const padded = (envelope: string): string => envelope.padEnd(PADDED)

// The envelope comes last, so that it stands at the same place of every page.
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
 * Opens the file, for its owner alone, beside other processes that have it open too. A rollback journal, which is deleted
 * with every commit: a write-ahead log would keep what was destroyed, and needs memory that machines cannot share.
 *
 * @throws SecretsUnavailable
 */
export const openSecretsDatabase = async (path: string): Promise<Database.Database> => {
  try {
    closeSync(openSync(path, 'a', 0o600))
    const db = new Database(path, { timeout: 0 })
    await patiently(() => {
      db.pragma(`page_size = ${PAGE_BYTES}`)
      db.pragma('journal_mode = DELETE')
      // Syncs the directory too: a journal that came back after a loss of power would take a commit back.
      db.pragma('synchronous = EXTRA')
      db.pragma('secure_delete = ON')
      db.transaction(() => ensureSchema(db)).immediate()
    })
    await syncDirectory(dirname(path))
    return db
  } catch (cause) {
    if (cause instanceof SecretsUnavailable)
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
