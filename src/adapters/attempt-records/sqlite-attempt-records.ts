import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { makePrivateDatabase, PRIVATE_DIRECTORY } from '../../kernel/private-files.js'
import type { AttemptRecord, AttemptRecords } from '../../kernel/ports/attempt-records.js'

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS attempts (
    delivery TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    ended_at INTEGER NOT NULL,
    seen TEXT NOT NULL,
    PRIMARY KEY (delivery, attempt)
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS attempts_by_end ON attempts (ended_at);
`

type Seen = Omit<AttemptRecord, 'deliveryId' | 'attempt' | 'endedAt'>

interface Row {
  readonly attempt: number
  readonly ended_at: number
  readonly seen: string
}

const PAUSE_MS = 50

/** SQLite does not wait for processes that make the same file at once, whatever its timeout. */
const whileBusy = (prepare: () => void, tries = 100): void => {
  try {
    prepare()
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== 'SQLITE_BUSY' || tries === 0) throw error
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
    whileBusy(prepare, tries - 1)
  }
}

/**
 * In a file of its own, which several processes may use: what is in it cannot be folded from the log again.
 *
 * @throws SqliteError, SQLITE_NOTADB or SQLITE_CORRUPT among them
 */
export const openSqliteAttemptRecords = (path: string): AttemptRecords => {
  mkdirSync(dirname(path), { recursive: true, mode: PRIVATE_DIRECTORY })
  makePrivateDatabase(path)
  const db = new Database(path)
  try {
    whileBusy(() => {
      db.pragma('journal_mode = WAL')
      db.pragma('synchronous = NORMAL')
      db.exec(SCHEMA)
    })
  } catch (error) {
    db.close()
    throw error
  }
  const insert = db.prepare('INSERT OR REPLACE INTO attempts VALUES (?, ?, ?, ?)')
  const select = db.prepare<[string, number, number], Row>(
    `SELECT attempt, ended_at, seen FROM attempts
     WHERE delivery = ? AND attempt BETWEEN ? AND ? ORDER BY attempt`,
  )
  const remove = db.prepare(
    `DELETE FROM attempts WHERE (delivery, attempt) IN
       (SELECT delivery, attempt FROM attempts WHERE ended_at < ? ORDER BY ended_at LIMIT ?)`,
  )
  return {
    put: db.transaction((records: readonly AttemptRecord[]) => {
      for (const { deliveryId, attempt, endedAt, ...seen } of records)
        insert.run(deliveryId, attempt, endedAt, JSON.stringify(seen satisfies Seen))
    }),
    of: (deliveryId, attempts) =>
      select
        .all(deliveryId, attempts[0]?.attempt ?? 0, attempts.at(-1)?.attempt ?? 0)
        .map(({ attempt, ended_at, seen }) => ({
          deliveryId,
          attempt,
          endedAt: ended_at,
          ...(JSON.parse(seen) as Seen),
        })),
    prune: (before, limit) => void remove.run(before, limit),
    close: () => void db.close(),
  }
}
