import { existsSync, renameSync } from 'node:fs'
import Database from 'better-sqlite3'
import { isNoSpace } from '../../kernel/no-space.js'
import type { Log } from '../../kernel/ports/log.js'
import type { DispatcherState } from '../../domain/webhooks/deliveries/dispatcher-state.js'

/**
 * Opens a SQLite file that the service can lose. A corrupt one is renamed to `<path>.spoilt`, logged, and replaced by an
 * empty one. On a full disk it is kept in memory until the next start.
 */
export const openOrRecreate = <A>(path: string, open: (path: string) => A, log: Pick<Log, 'warn'>): A => {
  try {
    return withPathInErrors(path, open)
  } catch (error) {
    if (isNoSpace(error)) {
      log.warn('database.in_memory', { path, reason: 'the disk is full; make room and restart the service' })
      return open(':memory:')
    }
    if (!isCorruption(error)) throw error
    const renamedTo = `${path}.spoilt`
    for (const suffix of ['', '-wal', '-shm'])
      if (existsSync(path + suffix)) renameSync(path + suffix, renamedTo + suffix)
    log.warn('database.recreated', {
      path,
      aside: renamedTo,
      reason: 'the file is not a readable database; it was renamed and a new one created',
    })
    return withPathInErrors(path, open)
  }
}

/** SQLite's messages do not name the file. */
const withPathInErrors = <A>(path: string, open: (path: string) => A): A => {
  try {
    return open(path)
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error
    throw new Database.SqliteError(`${path}: ${error.message}`, error.code)
  }
}

/** Whether SQLite found that a file is corrupt or not a database. */
const isCorruption = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^SQLITE_(?:NOTADB|CORRUPT)/u.test(String(error.code))

type Method = (...args: readonly unknown[]) => unknown

/**
 * A state that survives a corrupt file. The dispatcher rolls back after every failure: if SQLite reported corruption
 * since the last roll back, this opens the state again, and the dispatcher folds the log from the new checkpoint.
 */
export const recreatingState = (open: () => DispatcherState): DispatcherState => {
  let current = open()
  let isCorrupt = false

  const delegate = (name: string): Method => {
    return (...args) => {
      try {
        return (current[name as keyof DispatcherState] as Method)(...args)
      } catch (error) {
        isCorrupt ||= isCorruption(error)
        throw error
      }
    }
  }
  const state = Object.fromEntries(
    Object.keys(current).map((name) => [name, delegate(name)]),
  ) as unknown as DispatcherState

  const reopen = () => {
    try {
      current.close()
    } catch {
      // Closing a corrupt file may fail too.
    }
    current = open()
    isCorrupt = false
  }
  return {
    ...state,
    rollBack: () => {
      if (isCorrupt) return reopen()
      try {
        current.rollBack()
      } catch (error) {
        if (!isCorruption(error)) throw error
        reopen()
      }
    },
  }
}
