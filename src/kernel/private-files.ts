import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs'

/** Files and directories of the service are for its own user alone: they hold what was traced. */
export const PRIVATE_FILE = 0o600
export const PRIVATE_DIRECTORY = 0o700

/** Makes a directory that only the service uses; takes the access of others away where there is one. */
export const makePrivateDirectory = (path: string): void => {
  mkdirSync(path, { recursive: true, mode: PRIVATE_DIRECTORY })
  makePrivate(path)
}

/**
 * Makes the file of a SQLite database, or takes the access of others away where there is one. SQLite gives the mode of a
 * database to the files that it makes next to it.
 */
export const makePrivateDatabase = (path: string): void => {
  if (path === ':memory:') return
  try {
    closeSync(openSync(path, 'wx', PRIVATE_FILE))
  } catch {
    // An existing file is not opened here: closing it would drop the locks that SQLite has on it. SQLite reports other errors.
    for (const end of ['', '-wal', '-shm']) makePrivate(path + end)
  }
}

const ACCESS_OF_OTHERS = 0o077

/** A file that is not the service's own stays as its owner left it. */
const makePrivate = (path: string): void => {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode
  if (mode === undefined || (mode & ACCESS_OF_OTHERS) === 0) return
  try {
    chmodSync(path, mode & 0o7777 & ~ACCESS_OF_OTHERS)
  } catch (error) {
    if (!NOT_OURS.has(codeOf(error))) throw error
  }
}

const NOT_OURS = new Set(['EPERM', 'EROFS', 'ENOTSUP', 'ENOENT'])

const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException).code)
