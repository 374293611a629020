import { existsSync, fstatSync } from 'node:fs'
import { StoreUnavailable } from '../../../kernel/ports/event-store-errors.js'

/**
 * Checks that what is written to a log that is open will be found by the next start: a directory that was moved or deleted
 * takes writes all the same. `writeAheadLog` is its descriptor.
 *
 * @throws StoreUnavailable
 */
export const requireInPlace = (path: string, writeAheadLog: number): void => {
  if (existsSync(path) && existsSync(`${path}-wal`) && fstatSync(writeAheadLog).nlink > 0) return
  const cause = Object.assign(new Error('no such file'), { code: 'ENOENT' })
  throw new StoreUnavailable(`${path} was moved or deleted: restore the files, or restart the service`, {
    cause,
  })
}
