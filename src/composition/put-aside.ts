import { existsSync, renameSync } from 'node:fs'
import Database from 'better-sqlite3'
import type { Log } from '../domain/ports/log.js'

/**
 * Opens a file of SQLite that the service can do without. One that is spoilt is put aside, as `<path>.spoilt`, said, and
 * made anew.
 */
export const openOrPutAside = <A>(path: string, open: (path: string) => A, log: Pick<Log, 'warn'>): A => {
  try {
    return named(path, open)
  } catch (error) {
    if (!isSpoilt(error)) throw error
    const aside = `${path}.spoilt`
    for (const end of ['', '-wal', '-shm']) if (existsSync(path + end)) renameSync(path + end, aside + end)
    log.warn('database.recreated', {
      path,
      aside,
      reason: 'the file is not a readable database; it was renamed and a new one created',
    })
    return named(path, open)
  }
}

/** SQLite does not say which file it is that it cannot use. */
const named = <A>(path: string, open: (path: string) => A): A => {
  try {
    return open(path)
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error
    throw new Database.SqliteError(`${path}: ${error.message}`, error.code)
  }
}

/** Whether SQLite says of a file that it is no database, or none any more. */
export const isSpoilt = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^SQLITE_(?:NOTADB|CORRUPT)/u.test(String(error.code))
