import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import { traceSizes } from './load.js'

/** Facts worked on at once; a larger trace is worked on alone. */
export const ROWS_AT_ONCE = 250_000

const TRACES_A_QUERY = 5000

/** Traces together until they are enough work; each trace whole. */
export const batchesOfTraces = async (
  reader: ClickHouseReader,
  projectId: string,
  traceIds: readonly string[],
): Promise<readonly (readonly string[])[]> => {
  if (traceIds.length <= 1) return traceIds.length === 0 ? [] : [traceIds]
  const all: string[][] = []
  let rows = Infinity
  for (let from = 0; from < traceIds.length; from += TRACES_A_QUERY) {
    for (const size of await traceSizes(reader, projectId, traceIds.slice(from, from + TRACES_A_QUERY))) {
      if (rows + size.rows > ROWS_AT_ONCE || all.at(-1)!.length >= TRACES_A_QUERY) {
        all.push([])
        rows = 0
      }
      all.at(-1)!.push(size.trace_id)
      rows += size.rows
    }
  }
  return all
}
