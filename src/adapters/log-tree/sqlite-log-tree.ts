import { closeSync, fdatasync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import { openDurably, syncDirectory } from '../../kernel/atomic-file.js'
import type { Position } from '../../kernel/ports/event-store.js'
import {
  LogTreeInUse,
  type LogTree,
  type SignedCheckpoint,
  type TreeStep,
} from '../../kernel/ports/log-tree.js'
import { OperatorError } from '../../kernel/ports/operator-error.js'
import { makePrivateDatabase } from '../../kernel/private-files.js'
import { HASH_BYTES, TILE_HASHES } from '../../kernel/tlog/merkle.js'

const SCHEMA = `
  CREATE TABLE tiles (
    level    INTEGER NOT NULL,
    number   INTEGER NOT NULL,
    hashes   BLOB    NOT NULL,
    position INTEGER, -- of the last event, at level 0
    PRIMARY KEY (level, number)
  ) STRICT;
  CREATE INDEX tiles_by_position ON tiles (position) WHERE level = 0;

  CREATE TABLE checkpoints (
    size      INTEGER PRIMARY KEY,
    signed_at INTEGER NOT NULL, -- milliseconds since 1970
    note      TEXT    NOT NULL
  ) STRICT;

  CREATE TABLE previous ( -- the last checkpoint of the log that this one replaced
    note TEXT NOT NULL
  ) STRICT;
`

const VERSION = 1

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/**
 * Keeps the last checkpoint of each minute, hour or day, by its age, and the latest. Those with cosignatures of witnesses
 * are counted apart, because a slow witness may cosign only some.
 */
const THIN = `
  DELETE FROM checkpoints WHERE size NOT IN (
    SELECT max(size) FROM checkpoints GROUP BY
      CASE WHEN signed_at > @now - ${DAY_MS} THEN signed_at / 60000
           WHEN signed_at > @now - ${30 * DAY_MS} THEN -signed_at / ${HOUR_MS}
           ELSE -signed_at / ${DAY_MS} END,
      length(note) - length(replace(note, '—', ''))
  )
`

const dataSync = promisify(fdatasync)

interface CheckpointRow {
  readonly size: number
  readonly signedAt: number
  readonly note: string
}

/** Makes the file of a log that replaces another. */
export const makeLogTree = async (path: string, previous: string): Promise<void> => {
  makePrivateDatabase(path)
  const db = new Database(path)
  db.pragma('page_size = 16384')
  db.pragma('synchronous = FULL')
  db.transaction(() => {
    ensureSchema(db)
    db.exec('DELETE FROM previous')
    db.prepare('INSERT INTO previous VALUES (?)').run(previous)
  }).immediate()
  db.close()
  await syncDirectory(dirname(path))
}

/** Answers at once. */
export interface SqliteLogTree extends LogTree {
  readonly tile: (level: number, index: number) => Uint8Array
  readonly tileAt: (position: Position) => number | undefined
  readonly positionBefore: (index: number) => Position
  readonly checkpoints: () => readonly SignedCheckpoint[]
}

/**
 * The tree in one SQLite file, which this process alone may open: a log has one signer. Like those of the log, commits are
 * synced in the background.
 *
 * @throws LogTreeInUse, OperatorError
 */
export const openSqliteLogTree = (path: string): SqliteLogTree => {
  let db: Database.Database | undefined
  try {
    makePrivateDatabase(path)
    db = new Database(path, { timeout: 0 })
    db.pragma('locking_mode = EXCLUSIVE')
    db.pragma('page_size = 16384')
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = NORMAL')
    db.transaction(ensureSchema).immediate(db)
    return treeIn(db, openDurably(`${path}-wal`))
  } catch (cause) {
    db?.close()
    if (!(cause instanceof Database.SqliteError)) throw cause
    if (/^SQLITE_(BUSY|LOCKED)/.test(cause.code))
      throw new LogTreeInUse(`another process uses ${path}: stop it, because only one may sign the log`, {
        cause,
      })
    throw new OperatorError(
      `${path}: cannot open the tree of the log (${cause.code}: ${cause.message}); restore it from a backup, see docs/auditing.md`,
      { cause },
    )
  }
}

const ensureSchema = (db: Database.Database): void => {
  const version = db.pragma('user_version', { simple: true })
  if (version === VERSION) return
  if (version !== 0)
    throw new OperatorError(
      `${db.name}: the tree of the log has schema version ${String(version)}, this release supports ${VERSION}`,
    )
  db.exec(SCHEMA)
  db.pragma(`user_version = ${VERSION}`)
}

const treeIn = (db: Database.Database, writeAheadLog: number): SqliteLogTree => {
  const last = db
    .prepare<[], [number, number, number]>(
      'SELECT number, length(hashes), position FROM tiles WHERE level = 0 ORDER BY number DESC LIMIT 1',
    )
    .raw()
  const tile = db
    .prepare<[number, number], Buffer>('SELECT hashes FROM tiles WHERE level = ? AND number = ?')
    .pluck()
  const positionOf = db
    .prepare<[number], number>('SELECT position FROM tiles WHERE level = 0 AND number = ?')
    .pluck()
  const tileAt = db
    .prepare<[bigint], number>(
      'SELECT number FROM tiles WHERE level = 0 AND position >= ? ORDER BY position LIMIT 1',
    )
    .pluck()
  const upsert = db.prepare<[number, number, Buffer, bigint | null]>(
    'INSERT OR REPLACE INTO tiles VALUES (?, ?, ?, ?)',
  )
  const insertCheckpoint = db.prepare<[number, number, string]>(
    'INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?)',
  )
  const cosign = db.prepare<[number, number, string, string]>(
    'INSERT INTO checkpoints VALUES (?, ?, ?) ON CONFLICT (size) DO UPDATE SET note = note || ?',
  )
  const select = 'SELECT size, signed_at AS signedAt, note FROM checkpoints ORDER BY size'
  const checkpoints = db.prepare<[], CheckpointRow>(select)
  const latest = db.prepare<[], CheckpointRow>(`${select} DESC LIMIT 1`)
  const thin = db.prepare<{ readonly now: number }>(THIN)
  const write = db.transaction(({ tiles, positions, checkpoint }: TreeStep) => {
    for (const { level, index, hashes } of tiles)
      upsert.run(level, index, hashes, level === 0 ? (positions.get(index) ?? null) : null)
    if (checkpoint === undefined) return
    const now = checkpoint.signedAt.getTime()
    insertCheckpoint.run(checkpoint.size, now, checkpoint.note)
    thin.run({ now })
  })

  return {
    named: 'log-tree.db',
    size: () => {
      const [number, bytes] = last.get() ?? [0, 0]
      return number * TILE_HASHES + bytes / HASH_BYTES
    },
    position: () => BigInt(last.get()?.[2] ?? 0),
    tile: (level, index) => {
      const hashes = tile.get(level, index)
      if (hashes === undefined)
        throw new OperatorError(
          `${db.name} has no tile ${level}/${index}; restore it from a backup, see docs/auditing.md`,
        )
      return hashes
    },
    tileAt: (position) => tileAt.get(position),
    positionBefore: (index): Position => (index === 0 ? 0n : BigInt(positionOf.get(index - 1) ?? 0)),
    latest: () => {
      const row = latest.get()
      return row && signed(row)
    },
    checkpoints: () => checkpoints.all().map(signed),
    previous: () => db.prepare<[], string>('SELECT note FROM previous').pluck().get(),
    save: async (step) => {
      write.immediate(step)
      await dataSync(writeAheadLog)
    },
    cosign: async ({ size, signedAt, note }, line) => {
      cosign.run(size, signedAt.getTime(), note + line, line)
      await dataSync(writeAheadLog)
    },
    close: () => {
      closeSync(writeAheadLog)
      db.close()
    },
  }
}

const signed = ({ size, signedAt, note }: CheckpointRow): SignedCheckpoint => ({
  size,
  signedAt: new Date(signedAt),
  note,
})
