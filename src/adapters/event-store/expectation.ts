import { ConcurrencyConflict } from '../../domain/ports/event-store-errors.js'
import type { Expected } from '../../domain/ports/event-store.js'

/** The last revision of a stream, -1 for one that does not exist. */
export type LastRevision = number

export const isMet = (expected: Expected, last: LastRevision): boolean => {
  switch (expected) {
    case 'any':
      return true
    case 'none':
      return last < 0
    case 'exists':
      return last >= 0
    default:
      return last >= 0 && expected === BigInt(last)
  }
}

/**
 * Where the first event of an append stood if it was made before. `undefined` for expectations that do not
 * say: there the event ids alone tell.
 */
export const firstRevisionOf = (expected: Expected): number | undefined => {
  switch (expected) {
    case 'any':
    case 'exists':
      return undefined
    case 'none':
      return 0
    default:
      return Number(expected) + 1
  }
}

export const conflict = (stream: string, expected: Expected, last: LastRevision): ConcurrencyConflict =>
  new ConcurrencyConflict(stream, expected, last < 0 ? 'none' : BigInt(last))
