import { existsSync, fstatSync } from 'node:fs'
import { StoreUnavailable } from '../../../domain/ports/event-store-errors.js'

/**
 * Checks that what is written to a log that is open will be found by the next start: a directory that was moved or deleted
 * takes writes all the same. `writeAheadLog` is its descriptor.
 *
 * @throws StoreUnavailable
 */
export const requireInPlace = (path: string, writeAheadLog: number): void => {
  if (existsSync(path) && existsSync(`${path}-wal`) && fstatSync(writeAheadLog).nlink > 0) return
  const cause = Object.assign(new Error('no such file'), { code: 'ENOENT' })
  throw new StoreUnavailable(
    `${path} is not where it was any more: put the files back that were moved, or start the service anew`,
    { cause },
  )
}
