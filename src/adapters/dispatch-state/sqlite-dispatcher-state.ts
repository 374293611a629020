import { mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { makePrivateDatabase, PRIVATE_DIRECTORY } from '../../kernel/private-files.js'
import type { Json } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import { jsonText } from '../../kernel/json/text.js'
import type { DispatcherState } from '../../domain/webhooks/deliveries/dispatcher-state.js'
import { deliveriesIn } from './deliveries.js'

/**
 * The dispatcher's state in one SQLite file of this process alone. What was folded since the last commit is one open
 * transaction, which a crash takes back together with the checkpoint.
 */
export const openSqliteDispatcherState = (path: string): DispatcherState => {
  const db = openStateFile(path)
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const readCheckpoint = db.prepare<[], string>('SELECT position FROM checkpoint').pluck()
  const writeCheckpoint = db.prepare('INSERT OR REPLACE INTO checkpoint VALUES (1, ?)')
  const put = db.prepare('INSERT OR REPLACE INTO things VALUES (?, ?, ?)')
  const get = db
    .prepare<[string, string], string>('SELECT value FROM things WHERE kind = ? AND key = ?')
    .pluck()
  const remove = db.prepare('DELETE FROM things WHERE kind = ? AND key = ?')
  const all = db.prepare<[string, string, number], { key: string; value: string }>(
    'SELECT key, value FROM things WHERE kind = ? AND key > ? ORDER BY key LIMIT ?',
  )
  const some = (kind: string, limit: number, after = '') =>
    all.all(kind, after, limit).map(({ key, value }) => [key, parseJson(value)] as const)
  const unclaimAll = db.prepare('UPDATE deliveries SET claimed = 0 WHERE claimed = 1')
  begin.run()
  unclaimAll.run()

  return {
    checkpoint: () => {
      const position = readCheckpoint.get()
      return position === undefined ? undefined : BigInt(position)
    },
    commit: (checkpoint) => {
      writeCheckpoint.run(String(checkpoint))
      commit.run()
      begin.run()
    },
    rollBack: () => {
      // Some failures end the transaction by themselves.
      if (db.inTransaction) db.exec('ROLLBACK')
      begin.run()
      unclaimAll.run()
    },
    clear: () => {
      for (const table of ['checkpoint', 'things', 'deliveries']) db.exec(`DELETE FROM ${table}`)
    },
    put: (kind, key, value) => void put.run(kind, key, jsonText(value as Json)),
    get: (kind, key) => {
      const value = get.get(kind, key)
      return value === undefined ? undefined : parseJson(value)
    },
    remove: (kind, key) => void remove.run(kind, key),
    all: (kind) => some(kind, -1),
    some,
    ...deliveriesIn(db),
    close: () => {
      try {
        if (db.inTransaction) db.exec('ROLLBACK')
      } finally {
        db.close()
      }
    },
  }
}

/** Raised with each change of the tables or of what is folded into them: a file of another version is rebuilt. */
const MAKE = 9

const SCHEMA = `
  CREATE TABLE checkpoint (one INTEGER PRIMARY KEY CHECK (one = 1), position TEXT NOT NULL);
  CREATE TABLE things (kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (kind, key)) WITHOUT ROWID;
  CREATE TABLE deliveries (
    id TEXT PRIMARY KEY,
    webhook TEXT NOT NULL,
    turn TEXT NOT NULL,
    claimed INTEGER NOT NULL DEFAULT 0,
    since INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    not_before INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    delivery TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX deliveries_due ON deliveries (webhook, claimed, turn, due_at, ordinal);
  CREATE INDEX deliveries_by_failures ON deliveries (webhook, failures, ordinal, due_at)
    WHERE turn = 'retry' AND claimed = 0;
  CREATE INDEX deliveries_by_turn ON deliveries (turn, due_at);
`

/**
 * Nothing in it is worth a sync: what is not on the disk is folded again.
 *
 * @throws SqliteError SQLITE_NOTADB or SQLITE_CORRUPT for a file that is spoilt anywhere
 */
const openStateFile = (path: string): Database.Database => {
  mkdirSync(dirname(path), { recursive: true, mode: PRIVATE_DIRECTORY })
  makePrivateDatabase(path)
  const db = new Database(path, { timeout: 0 })
  try {
    prepare(db)
    if (db.pragma('user_version', { simple: true }) === MAKE) return whole(db)
  } catch (error) {
    db.close()
    throw error
  }
  db.close()
  return made(path)
}

const prepare = (db: Database.Database): void => {
  db.pragma('locking_mode = EXCLUSIVE')
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = NORMAL')
  // Measured: a checkpoint holds up the event loop for as long as the disk takes for all pages that differ, 10 ms and more
  // behind 1,000 of them, once a second where hundreds of receivers hang. Most are the same ones again, so that far fewer
  // are written in all where there is room for 64 MiB.
  db.pragma('wal_autocheckpoint = 16000')
}

/** What is spoilt is found now, and not one day in the middle of a batch. */
const whole = (db: Database.Database): Database.Database => {
  if (db.pragma('quick_check(1)', { simple: true }) === 'ok') return db
  throw new Database.SqliteError('the file is corrupt', 'SQLITE_CORRUPT')
}

const made = (path: string): Database.Database => {
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true })
  makePrivateDatabase(path)
  const db = new Database(path, { timeout: 0 })
  prepare(db)
  db.exec(SCHEMA)
  db.pragma(`user_version = ${MAKE}`)
  return db
}
