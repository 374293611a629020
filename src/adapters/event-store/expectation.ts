import { ConcurrencyConflict } from '../../kernel/ports/event-store-errors.js'
import type { Expected } from '../../kernel/ports/event-store.js'

/** The last revision of a stream, -1 for one that does not exist. */
export type LastRevision = number

export const isMet = (expected: Expected, last: LastRevision): boolean =>
  expected === 'none' ? last < 0 : last >= 0 && expected === BigInt(last)

/** The revision of the first event if the append is a repeat. */
export const firstRevisionOf = (expected: Expected): number =>
  expected === 'none' ? 0 : Number(expected) + 1

export const conflict = (stream: string, expected: Expected, last: LastRevision): ConcurrencyConflict =>
  new ConcurrencyConflict(stream, expected, last < 0 ? 'none' : BigInt(last))
