import { WIDTH } from './fold.js'
import type { RolledUp } from './roll-up.js'

const MAX_BYTES = 192 * 1024 * 1024

/** A trace below this many calls is loaded again faster than it is worth keeping. */
const MIN_CALLS = 5000

/** Large traces that were summed up not long ago, so that the next question about one costs only its answer. */
export interface TraceCache {
  readonly get: (trace: string, version: string) => RolledUp | undefined
  readonly put: (trace: string, version: string, rolledUp: RolledUp) => void
}

interface Kept {
  readonly version: string
  readonly rolledUp: RolledUp
  readonly bytes: number
}

/**
 * The least recently asked for goes first. A trace is known by name and version, the position at which something last
 * happened to it: facts never change, so the same version is the same trace, and a newer one takes its place.
 */
export const traceCache = (maxBytes = MAX_BYTES): TraceCache => {
  const kept = new Map<string, Kept>()
  let bytes = 0

  const drop = (trace: string): void => {
    bytes -= kept.get(trace)?.bytes ?? 0
    kept.delete(trace)
  }

  return {
    get: (trace, version) => {
      const found = kept.get(trace)
      if (found?.version !== version) return undefined
      kept.delete(trace)
      kept.set(trace, found)
      return found.rolledUp
    },
    put: (trace, version, rolledUp) => {
      drop(trace)
      const size = bytesOf(rolledUp)
      if (rolledUp.size < MIN_CALLS || size > maxBytes) return
      kept.set(trace, { version, rolledUp, bytes: size })
      bytes += size
      for (const oldest of kept.keys()) {
        if (bytes <= maxBytes) return
        drop(oldest)
      }
    },
  }
}

/** Columns of a call besides its id and values: offsets, hashes, times, links and flags. */
const BYTES_A_CALL = 46

const bytesOf = ({ size, ids, inclusive }: RolledUp): number =>
  ids.bytes.length + size * BYTES_A_CALL + inclusive.offsets[size]! * WIDTH * 8
