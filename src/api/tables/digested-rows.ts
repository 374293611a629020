import type { JsonObject } from '../../domain/json/json.js'
import type { Sha256 } from '../../domain/ports/sha256.js'
import { digestedRow } from '../../domain/table/digests.js'
import { yielding } from '../../yield-to-event-loop.js'
import type { DigestedRow } from './packs.js'

export interface DigestedRows {
  /** One per row, in order. */
  readonly digests: readonly string[]
  /** Distinct rows by digest. */
  readonly contents: ReadonlyMap<string, DigestedRow>
}

/** Computes the digests of rows and yields to the event loop while doing so. */
export const digestedRows = async (sha256: Sha256, rows: readonly JsonObject[]): Promise<DigestedRows> => {
  const yieldNow = yielding()
  const digests: string[] = []
  const contents = new Map<string, DigestedRow>()
  for (const val of rows) {
    const digested = digestedRow(sha256, val)
    digests.push(digested.digest)
    if (!contents.has(digested.digest)) contents.set(digested.digest, { val, ...digested })
    const pause = yieldNow()
    if (pause !== undefined) await pause
  }
  return { digests, contents }
}
