import {
  closeSync,
  fdatasync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  existsSync,
  fstatSync,
  openSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import { openDurably } from '../../../kernel/atomic-file.js'
import { makePrivateDatabase, PRIVATE_DIRECTORY, PRIVATE_FILE } from '../../../kernel/private-files.js'
import { StoreInUse, StoreUnavailable } from '../../../kernel/ports/event-store-errors.js'
import { isNoSpace } from '../../../kernel/no-space.js'
import { ensureSchema } from './schema.js'

export interface OpenDatabase {
  readonly db: Database.Database
  /** A descriptor of the file, for reads. */
  readonly file: number
  /** Resolves once every transaction that was committed when it was called is on the disk. */
  readonly sync: () => Promise<void>
  /** @throws StoreUnavailable when the files were moved or deleted meanwhile */
  readonly requireInPlace: () => void
  /** Writes as many bytes to a file next to the log, and deletes it. */
  readonly tryRoom: (bytes: number) => void
  readonly close: () => void
}

const pidFile = (path: string) => `${path}.pid`

/**
 * Opens the file for this process alone. The lock is SQLite's own on the file, so that it ends with the
 * process however that ends; the process id beside it serves the error message only. Nothing else in this
 * process may open and close the file: POSIX drops a process's locks with the first descriptor it closes. (The
 * write-ahead log is another file, which carries no lock.)
 *
 * @throws StoreInUse when another process, or this one, has the file open; StoreUnavailable when it is no log that can be
 *   read
 */
export const openDatabase = (path: string): OpenDatabase => {
  mkdirSync(dirname(path), { recursive: true, mode: PRIVATE_DIRECTORY })
  let db: Database.Database | undefined
  try {
    makePrivateDatabase(path)
    db = new Database(path, { timeout: 0 })
    db.pragma('locking_mode = EXCLUSIVE')
    // Measured: fewer, larger pages make bulk appends faster and single ones no slower. A checkpoint, which
    // holds up the event loop, stays at 8 MiB.
    db.pragma('page_size = 16384')
    // Lets the packer give free pages back to the disk. Works in new files only, and would write to others.
    if (db.pragma('page_count', { simple: true }) === 0) db.pragma('auto_vacuum = INCREMENTAL')
    db.pragma('wal_autocheckpoint = 500')
    db.pragma('journal_mode = WAL')
    // SQLite syncs before and after a checkpoint alone. A commit is synced by whoever acknowledges it, without holding
    // up the event loop.
    db.pragma('synchronous = NORMAL')
    db.pragma('cache_size = -65536')
    // Overwrites what is deleted, so that nothing of an erased event stays in unused parts of the file.
    db.pragma('secure_delete = ON')
    db.transaction(ensureSchema).immediate(db)
    notePid(path)
    const writeAheadLog = openDurably(`${path}-wal`)
    return whole(path, db, openSync(path, 'r'), writeAheadLog)
  } catch (cause) {
    db?.close()
    throw isBusy(cause) ? new StoreInUse(refusal(path), { cause }) : unusable(path, cause)
  }
}

const whole = (path: string, db: Database.Database, file: number, writeAheadLog: number): OpenDatabase => ({
  db,
  file,
  sync: () => dataSync(writeAheadLog),
  requireInPlace: () => requireInPlace(path, writeAheadLog),
  tryRoom: (bytes) => {
    try {
      writeFileSync(`${path}.room`, new Uint8Array(bytes), { mode: PRIVATE_FILE })
    } finally {
      rmSync(`${path}.room`, { force: true })
    }
  },
  close: () => {
    rmSync(pidFile(path), { force: true })
    closeSync(writeAheadLog)
    db.close()
    // Not before, because the locks of the process end with it.
    closeSync(file)
  },
})

const dataSync = promisify(fdatasync)

/** On a full disk the log can still be read. */
const notePid = (path: string) => {
  try {
    writeFileSync(pidFile(path), String(process.pid), { mode: PRIVATE_FILE })
  } catch (error) {
    if (!isNoSpace(error)) throw error
  }
}

const isBusy = (error: unknown) =>
  error instanceof Database.SqliteError && /^SQLITE_(BUSY|LOCKED)/u.test(error.code)

const refusal = (path: string) =>
  `another Tallytree process (${writerOf(path)}) already writes to ${path}; ` +
  'stop it or use another TALLYTREE_DATA_DIR'

/** What SQLite says of a file that it cannot open; anything else as it is. */
export const unusable = (path: string, cause: unknown): unknown =>
  cause instanceof Database.SqliteError
    ? new StoreUnavailable(
        `${path}: cannot open the event log (${cause.code}: ${cause.message})` +
          (/^SQLITE_(CORRUPT|NOTADB)/.test(cause.code) ? `; ${RESTORE}` : ''),
        { cause },
      )
    : cause

const RESTORE = 'restore it from a backup or from a copy that "tallytree replay" made, see docs/auditing.md'

const writerOf = (path: string) => {
  try {
    return `pid ${readFileSync(pidFile(path), 'utf8')}`
  } catch {
    return 'pid unknown'
  }
}

/**
 * Checks that what is written to a log that is open will be found by the next start: a directory that was moved or deleted
 * takes writes all the same. `writeAheadLog` is its descriptor.
 *
 * @throws StoreUnavailable
 */
const requireInPlace = (path: string, writeAheadLog: number): void => {
  if (existsSync(path) && existsSync(`${path}-wal`) && fstatSync(writeAheadLog).nlink > 0) return
  const cause = Object.assign(new Error('no such file'), { code: 'ENOENT' })
  throw new StoreUnavailable(`${path} was moved or deleted: restore the files, or restart the service`, {
    cause,
  })
}
