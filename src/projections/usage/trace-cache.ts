import { versionedCache, type VersionedCache } from '../../runtime/versioned-cache.js'
import type { Counters, Inclusive } from './inclusive.js'
import type { RolledUp } from './roll-up.js'

const MAX_BYTES = 192 * 1024 * 1024

/** A trace below this many calls is loaded again faster than it is worth keeping. */
const MIN_CALLS = 5000

/**
 * Large traces that were summed up not long ago, so that the next question about one costs only its answer. A trace's
 * version is the position at which something last happened to it: facts never change, so the same version is the same
 * trace. With costs it is kept apart, and its version names the version of the prices too.
 */
export type TraceCache = VersionedCache<RolledUp>

export const traceCache = (): TraceCache => {
  const cache = versionedCache<RolledUp>({ maxSize: MAX_BYTES, sizeOf: bytesOf })
  return {
    ...cache,
    put: (key, version, rolledUp) => {
      if (rolledUp.size >= MIN_CALLS) cache.put(key, version, rolledUp)
      else cache.drop(key)
    },
  }
}

/** Columns of a call besides its id and values: offsets, hashes, times, links and flags. */
const BYTES_A_CALL = 46

const bytesOf = ({ size, ids, inclusive, billed }: RolledUp): number =>
  ids.bytes.length +
  size * BYTES_A_CALL +
  bytesOfSums(inclusive) +
  (billed === null ? 0 : bytesOfSums(billed.inclusive) + size * BYTES_A_BILL)

const bytesOfSums = ({ values }: Inclusive<Counters>): number => values.length * 8

/** The offsets and the set of what a call is charged for. */
const BYTES_A_BILL = 12
